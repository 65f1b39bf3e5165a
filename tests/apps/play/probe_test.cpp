// The line about a pixel: zoom, stored YCbCr, RGB.
// SPDX-License-Identifier: MIT
#include "apps/play/session.hpp"

#include <gmock/gmock.h>

#include <span>
#include <utility>

#include "zerorun/encoder.hpp"

namespace zerorun::app {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Flat; Cb changes in the middle of the width, Cr in the middle of the height.
Frame picture(PixelFormat format, int width, int height) {
  Frame frame;
  EXPECT_TRUE(frame.reshape(format, width, height));
  const FrameView view = frame.view();
  for (int plane = 0; plane < plane_count(format); ++plane) {
    const auto p = static_cast<std::size_t>(plane);
    const auto row_bytes = static_cast<std::ptrdiff_t>(plane_row_bytes(format, plane, width));
    const auto rows = static_cast<std::ptrdiff_t>(plane_rows(format, plane, height));
    for (std::ptrdiff_t y = 0; y < rows; ++y)
      for (std::ptrdiff_t x = 0; x < row_bytes; ++x)
        view.data[p][y * view.stride_bytes[p] + x] =
            static_cast<std::uint8_t>(plane == 0   ? 120
                                      : plane == 1 ? (2 * x < row_bytes ? 100 : 160)
                                                   : (2 * y < rows ? 90 : 170));
  }
  return frame;
}

/// As the player keeps it: the stream, and the picture as RGB.
PlayFrame coded(PixelFormat format, Subsampling sampling) {
  EncodeParams params;
  params.backend = Backend::cpu;
  params.quality = 100;
  params.subsampling = sampling;
  auto encoder = Encoder::create(params);
  PlayFrame frame;
  const Frame source = picture(format, 64, 48);
  EXPECT_TRUE(encoder && encoder->encode(source.view(), frame.jpeg));
  DecodeParams decode;
  decode.backend = Backend::cpu;
  auto decoder = Decoder::create(decode);
  EXPECT_TRUE(decoder && decoder->decode(frame.jpeg, PixelFormat::bgrx32, frame.frame));
  return frame;
}

TEST(Probe, OfASmallerPictureShowsStoredSamplesOnceItStandsStill) {
  PlayFrame frame = coded(PixelFormat::yuv420p, Subsampling::s420);
  auto half = decode_again(frame, PixelFormat::yuv420p, 2);
  ASSERT_TRUE(half);
  frame.frame = *std::move(half);
  frame.scale = 2;
  EXPECT_EQ(frame.frame.width(), 32);
  Probe probe;
  EXPECT_EQ(probe.text(frame, {63, 47, 0.5, false}), "x 63 y 47  50 %  ");
  EXPECT_THAT(probe.text(frame, {63, 47, 0.5, true}), HasSubstr("YCbCr 120 160 170  RGB "));
}

TEST(Probe, ShowsZoomAndSamplesOfTheScreensOwnFormat) {
  PlayFrame frame;
  frame.frame = picture(PixelFormat::yuv420p, 65, 47);
  Probe probe;
  EXPECT_EQ(probe.text(frame, {0, 0, 4.0, false}),
            "x 0 y 0  400 %  YCbCr 120 100 90  RGB 67 157 70");
  EXPECT_THAT(probe.text(frame, {64, 46, 0.5, false}), HasSubstr("50 %  YCbCr 120 160 170 "));
}

TEST(Probe, DecodesOtherSamplingsAgainOnceTheFrameStandsStill) {
  for (const auto& [format, sampling] : {std::pair(PixelFormat::yuv422p, Subsampling::s422),
                                         std::pair(PixelFormat::yuv444p, Subsampling::s444)}) {
    const PlayFrame frame = coded(format, sampling);
    Probe probe;
    EXPECT_THAT(probe.text(frame, {2, 2, 1.0, false}), Not(HasSubstr("YCbCr")));
    EXPECT_THAT(probe.text(frame, {2, 2, 1.0, true}), HasSubstr("YCbCr 120 100 90  RGB "));
    EXPECT_THAT(probe.text(frame, {61, 2, 1.0, false}), HasSubstr("YCbCr 120 160 90  RGB "));
    EXPECT_THAT(probe.text(frame, {61, 45, 1.0, false}), HasSubstr("YCbCr 120 160 170  RGB "));
  }
}

TEST(Probe, OfASmallerPictureThatIsStoredAsRgbShowsRgb) {
  PlayFrame frame = coded(PixelFormat::yuv444p, Subsampling::s444);
  // Adobe's APP14 instead of JFIF's APP0: the same components are R, G and B.
  constexpr unsigned char kAdobe[] = {0xFF, 0xEE, 0,   14, 'A', 'd', 'o', 'b',
                                      'e',  0,    100, 0,  0,   0,   0,   0};
  const auto app0 = frame.jpeg.begin() + 2;
  frame.jpeg.erase(app0, app0 + 18);
  const auto adobe = std::as_bytes(std::span(kAdobe));
  frame.jpeg.insert(frame.jpeg.begin() + 2, adobe.begin(), adobe.end());
  auto half = decode_again(frame, PixelFormat::bgrx32, 2);
  ASSERT_TRUE(half);
  frame.frame = *std::move(half);
  frame.scale = 2;
  Probe probe;
  EXPECT_EQ(probe.text(frame, {2, 2, 0.5, true}), "x 2 y 2  50 %  RGB 120 100 90");
  EXPECT_EQ(probe.text(frame, {61, 45, 0.5, true}), "x 61 y 45  50 %  RGB 120 160 170");
}

TEST(Probe, SaysThatValuesAreComputedWhereNoneAreStored) {
  PlayFrame frame;
  ASSERT_TRUE(frame.frame.reshape(PixelFormat::bgrx32, 2, 2));
  const FrameView view = frame.frame.view();
  view.data[0][0] = 0, view.data[0][1] = 0, view.data[0][2] = 255;
  Probe probe;
  EXPECT_THAT(probe.text(frame, {0, 0, 1.0, true}), HasSubstr("YCbCr ~76 85 255  RGB 255 0 0"));
}

}  // namespace
}  // namespace zerorun::app
