// Frames in flight on CUDA: the bytes of the CPU, in order, from pinned and from other frames.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <vector>

#include "tests/support/gpu.hpp"
#include "tests/support/jpeg_segments.hpp"
#include "tests/support/test_frame.hpp"
#include "zerorun/async_encoder.hpp"

namespace zerorun::test {
namespace {

using AsyncParity = GpuTest;

Bytes encoded_on_cpu(const ConstFrameView& frame, EncodeParams params, int quality) {
  params.backend = Backend::cpu;
  params.quality = quality;
  auto encoder = Encoder::create(params);
  Bytes out;
  EXPECT_TRUE(encoder->encode(frame, out).is_ok());
  return out;
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
    EXPECT_TRUE(std::ranges::equal(out.jpeg.bytes(),
                                   encoded_on_cpu(view(got), params.encode, quality(got))))
        << "frame " << got;
    ++got;
  }
}

TEST_F(AsyncParity, CanBeDestroyedWithFramesInFlight) {
  const TestFrame frame = make_frame(Content::noise, PixelFormat::yuv420p, 640, 360, 1);
  for (int submitted = 0; submitted <= 8; ++submitted) {
    AsyncEncodeParams params;
    params.encode.backend = Backend::cuda;
    auto encoder = AsyncEncoder::create(params);
    ASSERT_TRUE(encoder.is_ok()) << encoder.status().message();
    for (int i = 0; i < submitted; ++i) {
      ASSERT_TRUE(encoder->submit(frame.view()).is_ok());
    }
  }
}

}  // namespace
}  // namespace zerorun::test
