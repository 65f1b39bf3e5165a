// Images in flight: order, the bound, errors of single images, whose memory it is, the end, and
// destruction at any time.
// SPDX-License-Identifier: MIT
#include "zerorun/async.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/coder.hpp"
#include "tests/support/jpeg_segments.hpp"
#include "tests/support/test_frame.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::test {
namespace {

AsyncDecodeParams async_params(int lanes, int depth) {
  AsyncDecodeParams params;
  params.decode.backend = Backend::cpu;
  params.lanes = lanes;
  params.depth = depth;
  return params;
}

AsyncDecoder make_decoder(int lanes, int depth) {
  auto decoder = AsyncDecoder::create(async_params(lanes, depth));
  EXPECT_TRUE(decoder.is_ok()) << decoder.status().message();
  return *std::move(decoder);
}

Bytes encoded(Content content, PixelFormat format, int width, int height, std::uint64_t seed = 1) {
  EncodeParams params;
  params.restart = RestartPolicy::mcu_rows(1);
  return encoded_on_cpu(make_frame(content, format, width, height, seed).view(), params);
}

/// Streams of several sizes and samplings, large and small ones in turn, so that later ones finish
/// first.
std::vector<Bytes> streams() {
  std::vector<Bytes> out;
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    out.push_back(encoded(Content::noise, PixelFormat::yuv420p, 320, 240, seed));
    out.push_back(encoded(Content::photo, PixelFormat::gray8, 1, 1, seed));
    out.push_back(encoded(Content::photo, PixelFormat::yuv444p, 61, 40, seed));
    out.push_back(encoded(Content::noise, PixelFormat::yuv422p, 17, 33, seed));
  }
  return out;
}

std::vector<std::uint8_t> decoded_alone(const Bytes& jpeg,
                                        PixelFormat format = PixelFormat::yuv420p) {
  auto decoder = Decoder::create(async_params(1, 1).decode);
  Frame out;
  EXPECT_TRUE(decoder->decode(jpeg, format, out).is_ok());
  return packed(out);
}

TEST(AsyncDecoder, GivesTheSamplesOfDecoderInOrder) {
  const std::vector<Bytes> all = streams();
  const PixelFormat formats[] = {PixelFormat::yuv420p, PixelFormat::rgb24, PixelFormat::gray8};
  for (const int lanes : {1, 2, 5}) {
    AsyncDecoder decoder = make_decoder(lanes, 4);
    EXPECT_EQ(decoder.lanes(), lanes);
    EXPECT_EQ(decoder.depth(), 4);
    EXPECT_EQ(decoder.backend(), Backend::cpu);
    DecodedFrame out;
    std::size_t sent = 0, got = 0;
    const auto take = [&] {
      ASSERT_EQ(decoder.receive(out, true), Received::frame);
      ASSERT_TRUE(out.status.is_ok()) << out.status.message();
      EXPECT_EQ(out.number, static_cast<std::int64_t>(got));
      EXPECT_EQ(out.tag, 1000 + got);
      const Bytes& jpeg = all[got % all.size()];
      EXPECT_EQ(out.report.bytes_consumed, jpeg.size());
      EXPECT_EQ(out.frame.format(), formats[got % 3]);
      EXPECT_EQ(packed(out.frame), decoded_alone(jpeg, formats[got % 3]));
      ++got;
    };
    while (sent < 2 * all.size()) {
      DecodeOptions options{.tag = 1000 + sent};
      if (sent % 3 != 0) options.format = formats[sent % 3];
      const Status status = decoder.submit(all[sent % all.size()], options);
      if (status) {
        ++sent;
        continue;
      }
      ASSERT_EQ(status.code(), Errc::queue_full);
      EXPECT_EQ(decoder.in_flight(), 4);
      take();
    }
    decoder.finish();
    while (got < sent) take();
    EXPECT_EQ(decoder.receive(out, true), Received::end);
    EXPECT_EQ(decoder.receive(out, false), Received::end);
  }
}

TEST(AsyncDecoder, ErrorsBelongToTheirImage) {
  const Bytes good = encoded(Content::photo, PixelFormat::yuv420p, 40, 30);
  const Bytes headers(good.begin(), good.begin() + 40);
  Bytes lossless = good;
  for (const Segment& segment : parse_headers(good).segments)
    if (segment.marker == 0xC0) lossless[segment.offset + 1] = std::byte{0xC3};
  AsyncDecoder decoder = make_decoder(2, 8);
  ASSERT_TRUE(decoder.submit(good).is_ok());
  ASSERT_TRUE(decoder.submit(std::span<const std::byte>()).is_ok());
  ASSERT_TRUE(decoder.submit(headers).is_ok());
  ASSERT_TRUE(decoder.submit(HostBuffer()).is_ok());
  ASSERT_TRUE(decoder.submit(lossless).is_ok());
  ASSERT_TRUE(decoder.submit(good).is_ok());
  decoder.finish();
  auto alone = Decoder::create(async_params(1, 1).decode);
  Frame unused;
  const auto code_of = [&](std::span<const std::byte> jpeg) {
    return alone->decode(jpeg, PixelFormat::yuv420p, unused).status().code();
  };
  EXPECT_NE(code_of({}), Errc::ok);
  EXPECT_NE(code_of(headers), Errc::ok);
  DecodedFrame out;
  for (const Errc expected :
       {Errc::ok, code_of({}), code_of(headers), code_of({}), Errc::lossless, Errc::ok}) {
    ASSERT_EQ(decoder.receive(out, true), Received::frame);
    EXPECT_EQ(out.status.code(), expected) << out.number;
    if (expected == Errc::ok) {
      EXPECT_EQ(packed(out.frame), decoded_alone(good));
    }
  }
}

TEST(AsyncDecoder, ReportsTheDamageOfItsImage) {
  const Bytes good = encoded(Content::noise, PixelFormat::yuv420p, 96, 96);
  Bytes damaged = good;
  const auto data = static_cast<std::ptrdiff_t>(parse_headers(good).data_offset);
  std::fill_n(damaged.begin() + data + 20, 8, std::byte{0xFE});
  AsyncDecoder decoder = make_decoder(2, 4);
  for (const bool is_damaged : {true, false, true}) {
    ASSERT_TRUE(decoder.submit(is_damaged ? damaged : good).is_ok());
  }
  DecodedFrame out;
  for (const bool is_damaged : {true, false, true}) {
    ASSERT_EQ(decoder.receive(out, true), Received::frame);
    ASSERT_TRUE(out.status.is_ok()) << out.status.message();
    EXPECT_EQ(out.report.is_concealed(), is_damaged);
    EXPECT_EQ(out.report.first_problem.is_ok(), !is_damaged);
    EXPECT_EQ(packed(out.frame), decoded_alone(is_damaged ? damaged : good));
  }
}

TEST(AsyncDecoder, DecodesIntoTheCallersFrame) {
  const Bytes jpeg = encoded(Content::photo, PixelFormat::yuv420p, 61, 40);
  TestFrame right(PixelFormat::bgr24, 61, 40, Layout::bottom_up);
  TestFrame wrong(PixelFormat::bgr24, 60, 40);
  AsyncDecoder decoder = make_decoder(2, 4);
  ASSERT_TRUE(decoder.submit(jpeg, {.into = wrong.view()}).is_ok());
  ASSERT_TRUE(decoder.submit(jpeg, {.into = right.view()}).is_ok());
  DecodedFrame out;
  ASSERT_EQ(decoder.receive(out, true), Received::frame);
  EXPECT_EQ(out.status.code(), Errc::invalid_frame);
  EXPECT_EQ(wrong, TestFrame(PixelFormat::bgr24, 60, 40));
  ASSERT_EQ(decoder.receive(out, true), Received::frame);
  ASSERT_TRUE(out.status.is_ok()) << out.status.message();
  EXPECT_EQ(right.packed(), decoded_alone(jpeg, PixelFormat::bgr24));
}

TEST(AsyncDecoder, RefusesImpossibleParameters) {
  const auto code = [](const AsyncDecodeParams& params) {
    return AsyncDecoder::create(params).status().code();
  };
  EXPECT_EQ(code(async_params(-1, 0)), Errc::invalid_argument);
  EXPECT_EQ(code(async_params(100000, 0)), Errc::invalid_argument);
  EXPECT_EQ(code(async_params(0, -1)), Errc::invalid_argument);
  EXPECT_EQ(code(async_params(0, 1 << 20)), Errc::invalid_argument);
  AsyncDecodeParams params = async_params(1, 1);
  params.decode.limits.max_pixels = 0;
  EXPECT_EQ(code(params), Errc::invalid_argument);
  params = async_params(1, 1);
  params.format = static_cast<PixelFormat>(kPixelFormatCount + 1);
  EXPECT_EQ(code(params), Errc::invalid_frame);
  params = async_params(1, 1);
  params.decode.backend = Backend::cuda;
  params.decode.device = 4096;
  EXPECT_EQ(group(code(params)), ErrorGroup::device);
  AsyncDecoder decoder = make_decoder(1, 1);
  const auto format = static_cast<PixelFormat>(kPixelFormatCount + 1);
  EXPECT_EQ(decoder.submit(Bytes(4), {.format = format}).code(), Errc::invalid_frame);
  EXPECT_EQ(decoder.in_flight(), 0);
}

}  // namespace
}  // namespace zerorun::test
