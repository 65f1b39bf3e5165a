// The decoder's contract: arguments, limits, output memory, reports.
// SPDX-License-Identifier: MIT
#include "zerorun/decoder.hpp"

#include <cstring>

#include <gtest/gtest.h>

#include "tests/support/coder.hpp"
#include "tests/support/jpeg_segments.hpp"
#include "tests/support/page_end_buffer.hpp"
#include "tests/support/test_frame.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::test {
namespace {

Bytes encoded(PixelFormat format, int width, int height, const EncodeParams& params = {},
              Content content = Content::photo) {
  return encoded_on_cpu(make_frame(content, format, width, height, 3).view(), params);
}

TEST(DecoderArguments, AreChecked) {
  const auto expect_refused = [](auto change) {
    DecodeParams params;
    params.backend = Backend::cpu;
    change(params);
    const auto decoder = Decoder::create(params);
    EXPECT_EQ(decoder.status().code(), Errc::invalid_argument);
  };
  expect_refused([](auto& p) { p.threads = -1; });
  expect_refused([](auto& p) { p.threads = 4097; });
  expect_refused([](auto& p) { p.limits.max_pixels = 0; });
  expect_refused([](auto& p) { p.limits.max_scans = 0; });
  expect_refused([](auto& p) { p.limits.max_header_bytes = 0; });
}

TEST(DecoderArguments, TheFrameMustHaveTheSizeOfTheImage) {
  const Bytes jpeg = encoded(PixelFormat::yuv420p, 40, 30);
  Decoder decoder = cpu_decoder();
  for (const auto& [width, height] : {std::pair{39, 30}, {40, 31}, {1, 1}, {41, 30}}) {
    TestFrame frame(PixelFormat::rgb24, width, height, Layout::padded, 0x77);
    const std::vector<std::uint8_t> before = frame.packed();
    EXPECT_EQ(decoder.decode(jpeg, frame.view()).status().code(), Errc::invalid_frame);
    EXPECT_EQ(frame.packed(), before);
  }
  TestFrame frame(PixelFormat::rgb24, 40, 30);
  FrameView view = frame.view();
  view.data[0] = nullptr;
  EXPECT_EQ(decoder.decode(jpeg, view).status().code(), Errc::invalid_frame);
  EXPECT_TRUE(decoder.decode(jpeg, frame.view()).is_ok());
}

TEST(DecoderArguments, BytesThatAreNoJpegAreRefused) {
  Decoder decoder = cpu_decoder();
  Frame frame;
  const auto refuse = [&](std::vector<std::byte> bytes) {
    const PageEndBuffer input(bytes);
    return decoder.decode(input.bytes(), PixelFormat::rgb24, frame).status().code();
  };
  EXPECT_EQ(refuse({}), Errc::truncated);
  EXPECT_EQ(refuse({std::byte{0x89}, std::byte{'P'}, std::byte{'N'}, std::byte{'G'}}),
            Errc::not_jpeg);
  EXPECT_EQ(group(refuse({std::byte{0xFF}})), ErrorGroup::corrupt);
  EXPECT_EQ(group(refuse({std::byte{0xFF}, std::byte{0xD8}})), ErrorGroup::corrupt);
  EXPECT_EQ(refuse({std::byte{0xFF}, std::byte{0xD8}, std::byte{0xFF}, std::byte{0xD9}}),
            Errc::missing_image);
  EXPECT_EQ(decoder.decode({}, PixelFormat::rgb24, frame).status().code(), Errc::truncated);
}

TEST(DecoderLimits, PixelsAreCountedBeforeMemoryIsTaken) {
  const Bytes jpeg = encoded(PixelFormat::yuv420p, 40, 30);
  DecodeParams params;
  params.limits.max_pixels = 40 * 30;
  Frame frame;
  EXPECT_TRUE(cpu_decoder(params).decode(jpeg, PixelFormat::rgb24, frame).is_ok());
  params.limits.max_pixels = 40 * 30 - 1;
  EXPECT_EQ(cpu_decoder(params).decode(jpeg, PixelFormat::rgb24, frame).status().code(),
            Errc::too_many_pixels);
  EXPECT_EQ(inspect(jpeg, params.limits).status().code(), Errc::too_many_pixels);
}

TEST(DecoderLimits, HeadersAreCounted) {
  EncodeParams encode_params;
  for (int i = 0; i < 40; ++i)
    encode_params.segments.push_back({0xFE, std::vector<std::uint8_t>(1000, 'x')});
  const Bytes jpeg = encoded(PixelFormat::yuv420p, 40, 30, encode_params);
  DecodeParams params;
  params.limits.max_header_bytes = 30'000;
  Frame frame;
  EXPECT_EQ(cpu_decoder(params).decode(jpeg, PixelFormat::rgb24, frame).status().code(),
            Errc::too_much_header);
  EXPECT_EQ(inspect(jpeg, params.limits).status().code(), Errc::too_much_header);
  params.limits.max_header_bytes = 60'000;
  EXPECT_TRUE(cpu_decoder(params).decode(jpeg, PixelFormat::rgb24, frame).is_ok());
}

TEST(DecoderReportTest, CountsIntervalsAndBytes) {
  Decoder decoder = cpu_decoder();
  Frame frame;
  EncodeParams params;
  params.restart = RestartPolicy::none();
  Bytes jpeg = encoded(PixelFormat::yuv420p, 100, 50, params);
  auto report = decoder.decode(jpeg, PixelFormat::rgb24, frame);
  ASSERT_TRUE(report.is_ok());
  EXPECT_EQ(report->bytes_consumed, jpeg.size());
  EXPECT_EQ(report->intervals, 1);
  EXPECT_EQ(report->concealed_intervals, 0);
  EXPECT_TRUE(report->first_problem.is_ok());
  params.restart = RestartPolicy::mcus(5);  // 7 x 4 MCUs
  jpeg = encoded(PixelFormat::yuv420p, 100, 50, params);
  report = decoder.decode(jpeg, PixelFormat::rgb24, frame);
  ASSERT_TRUE(report.is_ok());
  EXPECT_EQ(report->intervals, 6);
}

/// libjpeg shows the first one and complains. Each such scan would cost the time of a picture.
TEST(DecoderReportTest, ASecondScanOfAComponentIsNotDecoded) {
  const Bytes first = encoded(PixelFormat::yuv420p, 96, 64);
  const Bytes other = encoded(PixelFormat::yuv420p, 96, 64, {}, Content::noise);
  const auto scan_of = [](const Bytes& jpeg) {
    return Bytes(jpeg.begin() + static_cast<std::ptrdiff_t>(parse_headers(jpeg).sos_offset),
                 jpeg.end());
  };
  Bytes two = first;
  two.resize(two.size() - 2);  // EOI
  const Bytes second = scan_of(other);
  two.insert(two.end(), second.begin(), second.end());
  Frame wanted, got;
  Decoder decoder = cpu_decoder();
  ASSERT_TRUE(decoder.decode(first, PixelFormat::yuv420p, wanted));
  const auto report = decoder.decode(two, PixelFormat::yuv420p, got);
  ASSERT_TRUE(report) << report.status().message();
  EXPECT_EQ(report->first_problem.code(), Errc::extraneous_data);
  for (int row = 0; row < 64; ++row)
    ASSERT_EQ(std::memcmp(got.view().data[0] + row * got.view().stride_bytes[0],
                          wanted.view().data[0] + row * wanted.view().stride_bytes[0], 96),
              0)
        << row;
  DecodeParams strict;
  strict.strict = true;
  Decoder refusing = cpu_decoder(strict);
  EXPECT_EQ(refusing.decode(two, PixelFormat::yuv420p, got).status().code(), Errc::extraneous_data);
}

TEST(DecoderReportTest, ConcealedBlocksRepeatTheLastDc) {
  // A flat grey picture cut off: what is missing has the value of what is there.
  EncodeParams params;
  params.restart = RestartPolicy::none();
  Bytes jpeg = encoded(PixelFormat::gray8, 64, 64, params, Content::flat);
  std::vector<ComponentPlane> whole, cut;
  Decoder decoder = cpu_decoder();
  ASSERT_TRUE(decoder.decode_planes(jpeg, whole).is_ok());
  jpeg.resize(parse_headers(jpeg).data_offset + 4);
  const auto report = decoder.decode_planes(jpeg, cut);
  ASSERT_TRUE(report.is_ok()) << report.status().message();
  EXPECT_EQ(report->concealed_intervals, 1);
  EXPECT_EQ(cut[0].samples, whole[0].samples);
}

}  // namespace
}  // namespace zerorun::test
