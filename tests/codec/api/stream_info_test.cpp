// inspect(): what the headers say, of our own streams and of streams put together by hand.
// SPDX-License-Identifier: MIT
#include "zerorun/decoder.hpp"

#include <utility>

#include <gtest/gtest.h>

#include "tests/support/coder.hpp"
#include "tests/support/jpeg_segments.hpp"
#include "tests/support/page_end_buffer.hpp"
#include "tests/support/test_frame.hpp"

namespace zerorun::test {
namespace {

Bytes encoded(const EncodeParams& params, PixelFormat format = PixelFormat::yuv420p, int width = 40,
              int height = 30) {
  return encoded_on_cpu(make_frame(Content::photo, format, width, height, 3).view(), params);
}

StreamInfo inspected(std::span<const std::byte> jpeg) {
  auto info = inspect(jpeg);
  EXPECT_TRUE(info.is_ok()) << info.status().message();
  return info.is_ok() ? *std::move(info) : StreamInfo();
}

TEST(Inspect, SaysWhatTheEncoderWasTold) {
  EncodeParams params;
  params.restart = RestartPolicy::mcus(9);
  params.pixel_aspect_x = 16;
  params.pixel_aspect_y = 11;
  const Bytes jpeg = encoded(params, PixelFormat::yuv422p, 41, 30);
  const StreamInfo info = inspected(jpeg);
  EXPECT_EQ(info.width, 41);
  EXPECT_EQ(info.height, 30);
  EXPECT_FALSE(info.extended);
  EXPECT_EQ(info.color, ColorModel::ycbcr);
  EXPECT_EQ(info.subsampling, Subsampling::s422);
  EXPECT_EQ(info.restart_interval_mcus, 9);
  EXPECT_TRUE(info.has_jfif);
  EXPECT_TRUE(info.standard_huffman_tables);
  EXPECT_EQ(info.pixel_aspect_x, 16);
  EXPECT_EQ(info.pixel_aspect_y, 11);
  EXPECT_EQ(info.exif_orientation, 1);
  EXPECT_EQ(info.header_bytes, parse_headers(jpeg).data_offset);
  ASSERT_EQ(info.components.size(), 3u);
  EXPECT_EQ(info.components[0].id, 1);
  EXPECT_EQ(info.components[0].h, 2);
  EXPECT_EQ(info.components[0].v, 1);
  EXPECT_EQ(info.components[0].quant_table, 0);
  EXPECT_EQ(info.components[0].width, 41);
  EXPECT_EQ(info.components[1].width, 21);
  EXPECT_EQ(info.components[1].height, 30);
  EXPECT_EQ(info.components[2].quant_table, 1);
}

TEST(Inspect, FindsTheQuality) {
  for (int quality = 1; quality <= 100; ++quality) {
    EncodeParams params;
    params.quality = quality;
    for (const PixelFormat format : {PixelFormat::yuv420p, PixelFormat::gray8})
      EXPECT_EQ(inspected(encoded(params, format, 8, 8)).quality, quality);
  }
  EncodeParams params;
  QuantTable own;
  own.fill(7);
  params.luma_table = own;
  EXPECT_EQ(inspected(encoded(params)).quality, std::nullopt);
}

TEST(Inspect, TellsOptimalTablesFromStandardOnes) {
  EncodeParams params;
  params.huffman = HuffmanTables::optimal;
  EXPECT_FALSE(inspected(encoded(params)).standard_huffman_tables);
  params.huffman = HuffmanTables::standard;
  EXPECT_TRUE(inspected(without_segments(encoded(params), 0xC4)).standard_huffman_tables);
}

TEST(Inspect, NamesEverySampling) {
  for (const Subsampling sampling : kAllSubsamplings) {
    const StreamInfo info = inspected(encoded({}, planar_format(sampling)));
    EXPECT_EQ(info.subsampling, sampling);
    EXPECT_EQ(info.color, sampling == Subsampling::gray ? ColorModel::gray : ColorModel::ycbcr);
  }
  // 2x2,2x1,1x1 has no name. Sampling factors are byte 7 + 3 c of the frame header.
  Bytes jpeg = encoded({});
  jpeg[parse_headers(jpeg).find(0xC0)->offset + 4 + 10] = std::byte{0x21};
  EXPECT_EQ(inspected(jpeg).subsampling, std::nullopt);
}

/// T.81 A.1.1 sizes components by ratios. FFmpeg writes 4:2:2 as 2x2, 1x2, 1x2.
TEST(Inspect, NamesSamplingsByRatios) {
  const auto with_factors = [](std::array<int, 3> factors) {
    Bytes jpeg = encoded({});
    const std::size_t sof = parse_headers(jpeg).find(0xC0)->offset;
    for (std::size_t c = 0; c < 3; ++c) jpeg[sof + 4 + 7 + 3 * c] = std::byte(factors[c]);
    return inspected(jpeg);
  };
  const StreamInfo s422 = with_factors({0x22, 0x12, 0x12});
  EXPECT_EQ(s422.subsampling, Subsampling::s422);
  EXPECT_EQ(s422.components[1].width, 20);
  EXPECT_EQ(s422.components[1].height, 30);
  EXPECT_EQ(with_factors({0x22, 0x21, 0x21}).subsampling, Subsampling::s440);
  EXPECT_EQ(with_factors({0x21, 0x21, 0x21}).subsampling, Subsampling::s444);
  EXPECT_EQ(with_factors({0x41, 0x21, 0x21}).subsampling, Subsampling::s422);
  EXPECT_EQ(with_factors({0x31, 0x11, 0x11}).subsampling, std::nullopt);
  EXPECT_EQ(with_factors({0x12, 0x22, 0x22}).subsampling, std::nullopt);
}

/// APP14 "Adobe", version 100, flags 0, 0, then the transform.
std::vector<std::uint8_t> adobe(std::uint8_t transform) {
  return make_segment(0xEE, {'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0, transform});
}

Bytes with_component_ids(Bytes jpeg, std::array<std::uint8_t, 3> ids) {
  const Headers headers = parse_headers(jpeg);
  for (std::size_t c = 0; c < 3; ++c) {
    jpeg[headers.find(0xC0)->offset + 4 + 6 + 3 * c] = std::byte{ids[c]};
    jpeg[headers.sos_offset + 4 + 1 + 2 * c] = std::byte{ids[c]};
  }
  return jpeg;
}

TEST(Inspect, TakesTheColourModelByLibjpegsRules) {
  EncodeParams bare;
  bare.jfif_header = false;
  bare.subsampling = Subsampling::s444;
  const Bytes plain = encoded(bare, PixelFormat::rgb24);
  // No JFIF, no Adobe: ids 1, 2, 3 are YCbCr, "RGB" is RGB, anything else is YCbCr.
  EXPECT_EQ(inspected(plain).color, ColorModel::ycbcr);
  EXPECT_FALSE(inspected(plain).has_jfif);
  EXPECT_EQ(inspected(with_component_ids(plain, {'R', 'G', 'B'})).color, ColorModel::rgb);
  EXPECT_EQ(inspected(with_component_ids(plain, {0, 1, 2})).color, ColorModel::ycbcr);
  // Adobe says: 0 RGB, 1 YCbCr, whatever the ids are.
  EXPECT_EQ(inspected(with_inserted(plain, 2, adobe(0))).color, ColorModel::rgb);
  EXPECT_EQ(inspected(with_inserted(plain, 2, adobe(1))).color, ColorModel::ycbcr);
  EXPECT_EQ(inspected(with_inserted(with_component_ids(plain, {'R', 'G', 'B'}), 2, adobe(1))).color,
            ColorModel::ycbcr);
  // JFIF is always YCbCr.
  bare.jfif_header = true;
  const Bytes jfif = encoded(bare, PixelFormat::rgb24);
  const std::size_t after_jfif = parse_headers(jfif).segments[1].offset;
  EXPECT_EQ(inspected(with_inserted(jfif, after_jfif, adobe(0))).color, ColorModel::ycbcr);
}

/// An EXIF segment whose IFD0 holds one tag, Orientation (0x0112, SHORT).
std::vector<std::uint8_t> exif(bool little_endian, std::uint8_t orientation) {
  if (little_endian)
    return {'E',  'x',  'i', 'f', 0, 0, 'I', 'I', 42,          0, 8, 0, 0, 0, 1, 0,
            0x12, 0x01, 3,   0,   1, 0, 0,   0,   orientation, 0, 0, 0, 0, 0, 0, 0};
  return {'E',  'x',  'i', 'f', 0, 0, 'M', 'M', 0, 42,          0, 0, 0, 8, 0, 1,
          0x01, 0x12, 0,   3,   0, 0, 0,   1,   0, orientation, 0, 0, 0, 0, 0, 0};
}

TEST(Inspect, ReadsTheOrientation) {
  for (const bool little_endian : {false, true}) {
    for (int orientation = 1; orientation <= 8; ++orientation) {
      EncodeParams params;
      params.segments = {{0xE1, exif(little_endian, static_cast<std::uint8_t>(orientation))}};
      EXPECT_EQ(inspected(encoded(params)).exif_orientation, orientation);
    }
    for (const int nonsense : {0, 9, 255}) {
      EncodeParams params;
      params.segments = {{0xE1, exif(little_endian, static_cast<std::uint8_t>(nonsense))}};
      EXPECT_EQ(inspected(encoded(params)).exif_orientation, 1);
    }
  }
}

TEST(Inspect, SurvivesEveryCutOfExif) {
  for (const bool little_endian : {false, true}) {
    const std::vector<std::uint8_t> whole = exif(little_endian, 6);
    for (std::size_t size = 0; size < whole.size(); ++size) {
      EncodeParams params;
      params.segments = {
          {0xE1, {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}}};
      const Bytes jpeg = encoded(params, PixelFormat::gray8, 8, 8);
      const int orientation = inspected(jpeg).exif_orientation;
      EXPECT_TRUE(orientation == 1 || orientation == 6) << size;
    }
  }
}

TEST(Inspect, ReadsTheLargestSizes) {
  Bytes jpeg = encoded({}, PixelFormat::gray8, 8, 8);
  const std::size_t sof = parse_headers(jpeg).find(0xC0)->offset + 4;
  for (std::size_t i = 1; i <= 4; ++i) jpeg[sof + i] = std::byte{0xFF};
  EXPECT_EQ(inspect(jpeg).status().code(), Errc::too_many_pixels);
  const auto info = inspect(jpeg, {.max_pixels = std::int64_t{65535} * 65535});
  ASSERT_TRUE(info.is_ok()) << info.status().message();
  EXPECT_EQ(info->width, 65535);
  EXPECT_EQ(info->height, 65535);
}

TEST(Inspect, EveryPrefixIsAnErrorUpToTheFirstScan) {
  EncodeParams params;
  params.segments = {{0xE1, exif(true, 3)}};
  params.restart = RestartPolicy::mcus(2);
  const Bytes jpeg = encoded(params);
  const std::size_t headers = parse_headers(jpeg).data_offset;
  for (std::size_t size = 0; size < headers; ++size) {
    const PageEndBuffer input{std::span(jpeg).first(size)};
    const auto info = inspect(input.bytes());
    ASSERT_FALSE(info.is_ok()) << size;
    EXPECT_EQ(group(info.status().code()), ErrorGroup::corrupt) << info.status().message();
  }
  const PageEndBuffer input{std::span(jpeg).first(headers)};
  EXPECT_TRUE(inspect(input.bytes()).is_ok());
}

}  // namespace
}  // namespace zerorun::test
