// Frames in flight on CUDA: the bytes and the samples of the CPU, in order, in any memory.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <vector>

#include "codec/base/pixel_rows.hpp"
#include "tests/support/coder.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/jpeg_segments.hpp"
#include "tests/support/test_frame.hpp"
#include "zerorun/async.hpp"

namespace zerorun::test {
namespace {

using AsyncParity = GpuTest;

Bytes encoded_at(const ConstFrameView& frame, EncodeParams params, int quality) {
  params.quality = quality;
  return encoded_on_cpu(frame, params);
}

Frame pinned_copy(const TestFrame& from) {
  auto frame =
      Frame::create(from.view().format, from.view().width, from.view().height, HostMemory::pinned);
  EXPECT_TRUE(frame.is_ok()) << frame.status().message();
  for (int p = 0; p < plane_count(frame->format()); ++p)
    for (int y = 0; y < from.rows(p); ++y)
      std::copy_n(from.row(p, y), from.row_bytes(p),
                  frame->view().data[static_cast<std::size_t>(p)] +
                      y * frame->view().stride_bytes[static_cast<std::size_t>(p)]);
  return *std::move(frame);
}

TEST_F(AsyncParity, GivesTheBytesOfTheCpuInOrder) {
  std::vector<TestFrame> sources;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    sources.push_back(make_frame(Content::photo, PixelFormat::yuv420p, 640, 360, seed));
    sources.push_back(make_frame(Content::noise, PixelFormat::rgb24, 61, 40, seed));
    sources.push_back(make_frame(Content::photo, PixelFormat::nv12, 17, 33, seed, Layout::padded));
  }
  std::vector<Frame> pinned;
  for (const TestFrame& source : sources) pinned.push_back(pinned_copy(source));
  AsyncEncodeParams params;
  params.encode.backend = Backend::cuda;
  auto encoder = AsyncEncoder::create(params);
  ASSERT_TRUE(encoder.is_ok()) << encoder.status().message();
  EXPECT_EQ(encoder->backend(), Backend::cuda);
  EncodedFrame out;
  const std::size_t total = 10 * sources.size();
  const auto view = [&](std::size_t n) {
    const std::size_t k = n % sources.size();
    return n % 2 == 0 ? sources[k].view() : std::as_const(pinned[k]).view();
  };
  const auto quality = [](std::size_t n) { return n % 3 == 0 ? 50 : 90; };
  for (std::size_t sent = 0, got = 0; got < total;) {
    if (sent < total && encoder->submit(view(sent), {.tag = sent, .quality = quality(sent)})) {
      ++sent;
      continue;
    }
    ASSERT_EQ(encoder->receive(out, true), Received::frame);
    ASSERT_TRUE(out.status.is_ok()) << out.status.message();
    ASSERT_EQ(out.tag, got);
    EXPECT_EQ(out.jpeg.memory(), HostMemory::pinned);
    EXPECT_TRUE(
        std::ranges::equal(out.jpeg.bytes(), encoded_at(view(got), params.encode, quality(got))))
        << "frame " << got;
    ++got;
  }
}

/// Sound and damaged streams, with and without restart markers, sizes and formats in turn.
TEST_F(AsyncParity, GivesTheSamplesAndReportsOfTheCpuInOrder) {
  std::vector<Bytes> streams;
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    EncodeParams params;
    params.restart = seed == 1 ? RestartPolicy::none() : RestartPolicy::mcu_rows(1);
    for (const auto& frame : {make_frame(Content::photo, PixelFormat::yuv420p, 640, 360, seed),
                              make_frame(Content::noise, PixelFormat::rgb24, 61, 40, seed),
                              make_frame(Content::photo, PixelFormat::gray8, 17, 33, seed)}) {
      streams.push_back(encoded_at(frame.view(), params, 90));
      Bytes damaged = streams.back();
      std::fill_n(damaged.end() - static_cast<std::ptrdiff_t>(damaged.size() / 8), 3,
                  std::byte{0xFE});
      streams.push_back(std::move(damaged));
    }
  }
  Decoder cpu = cpu_decoder();
  AsyncDecodeParams params;
  params.decode.backend = Backend::cuda;
  auto decoder = AsyncDecoder::create(params);
  ASSERT_TRUE(decoder.is_ok()) << decoder.status().message();
  EXPECT_EQ(decoder->backend(), Backend::cuda);
  const PixelFormat formats[] = {PixelFormat::yuv420p, PixelFormat::bgr24, PixelFormat::gray8};
  const auto submit = [&](std::size_t n) {
    const Bytes& jpeg = streams[n % streams.size()];
    const DecodeOptions options{.tag = n, .format = formats[n % 3]};
    if (n % 2 == 0) return decoder->submit(jpeg, options);
    HostBuffer pinned(HostMemory::pinned);
    EXPECT_TRUE(pinned.resize(jpeg.size()).is_ok());
    std::ranges::copy(jpeg, pinned.data());
    return decoder->submit(std::move(pinned), options);
  };
  DecodedFrame out;
  Frame expected;
  const std::size_t total = 7 * streams.size();
  for (std::size_t sent = 0, got = 0; got < total;) {
    if (sent < total && submit(sent)) {
      ++sent;
      continue;
    }
    ASSERT_EQ(decoder->receive(out, true), Received::frame);
    SCOPED_TRACE(got);
    ASSERT_TRUE(out.status.is_ok()) << out.status.message();
    ASSERT_EQ(out.tag, got);
    EXPECT_EQ(out.frame.memory(), HostMemory::pinned);
    const auto report = cpu.decode(streams[got % streams.size()], formats[got % 3], expected);
    ASSERT_TRUE(report.is_ok()) << report.status().message();
    EXPECT_EQ(out.report.bytes_consumed, report->bytes_consumed);
    EXPECT_EQ(out.report.concealed_intervals, report->concealed_intervals);
    EXPECT_EQ(out.report.first_problem.code(), report->first_problem.code());
    const ConstFrameView found = std::as_const(out.frame).view();
    const ConstFrameView wanted = std::as_const(expected).view();
    ASSERT_TRUE(found.format == wanted.format && found.width == wanted.width &&
                found.height == wanted.height);
    EXPECT_EQ(squared_error(found, wanted).sum, (std::array<std::uint64_t, 3>{}));
    ++got;
  }
}

/// With none to eight frames or images in flight.
template <typename Coder, typename Params, typename Input>
void destroy_in_flight(const Params& params, const Input& input) {
  for (int submitted = 0; submitted <= 8; ++submitted) {
    auto coder = make_coder<Coder>(params);
    ASSERT_TRUE(coder);
    for (int i = 0; i < submitted; ++i) ASSERT_TRUE(coder->submit(input).is_ok());
  }
}

TEST_F(AsyncParity, CodersCanBeDestroyedWithFramesInFlight) {
  const TestFrame frame = make_frame(Content::noise, PixelFormat::yuv420p, 640, 360, 1);
  AsyncEncodeParams encode;
  encode.encode.backend = Backend::cuda;
  destroy_in_flight<AsyncEncoder>(encode, frame.view());
  AsyncDecodeParams decode;
  decode.decode.backend = Backend::cuda;
  destroy_in_flight<AsyncDecoder>(decode, encoded_on_cpu(frame.view()));
}

}  // namespace
}  // namespace zerorun::test
