// Every layout to every other: the same samples where nothing is lost, else close to the equations.
// SPDX-License-Identifier: MIT
#include "io/samples/frame_convert.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "tests/io/support.hpp"
#include "tests/support/test_frame.hpp"

namespace zerorun::test {
namespace {

TEST(FrameConverter, RearrangesWithoutLoss) {
  io::FrameConverter converter;
  Frame out;
  for (const PixelFormat to : {PixelFormat::nv12, PixelFormat::nv21, PixelFormat::yuyv,
                               PixelFormat::uyvy, PixelFormat::bgr24, PixelFormat::rgbx32,
                               PixelFormat::bgrx32, PixelFormat::xrgb32, PixelFormat::xbgr32}) {
    const PixelFormat from =
        is_rgb(to) ? PixelFormat::rgb24 : planar_format(native_subsampling(to));
    for (const int width : {1, 2, 7, 16}) {
      const TestFrame plain = make_frame(Content::noise, from, width, 5, 9, Layout::padded);
      const TestFrame packed_frame = rearrange(plain, to, 255);
      ASSERT_TRUE(converter.convert(packed_frame.view(), from, out));
      EXPECT_EQ(packed(out), plain.packed()) << name(to) << width;
      ASSERT_TRUE(converter.convert(plain.view(), to, out));
      Frame back;
      ASSERT_TRUE(io::FrameConverter().convert(std::as_const(out).view(), from, back));
      EXPECT_EQ(packed(back), plain.packed()) << name(to) << width;
    }
  }
}

TEST(FrameConverter, FlatColoursKeepTheirValueInEveryPair) {
  io::FrameConverter converter;
  for (const PixelFormat from : kAllFormats)
    for (const PixelFormat to : kAllFormats) {
      TestFrame rgb(PixelFormat::rgb24, 7, 5);
      for (int y = 0; y < 5; ++y)
        for (int x = 0; x < 7; ++x)
          for (int c = 0; c < 3; ++c)
            rgb.row(0, y)[3 * x + c] = static_cast<std::uint8_t>(60 + 50 * c);
      Frame first, second, back;
      ASSERT_TRUE(converter.convert(rgb.view(), from, first)) << name(from);
      ASSERT_TRUE(converter.convert(std::as_const(first).view(), to, second)) << name(to);
      ASSERT_TRUE(converter.convert(std::as_const(second).view(), PixelFormat::rgb24, back));
      const std::vector<std::uint8_t> samples = packed(back);
      const bool gray = from == PixelFormat::gray8 || to == PixelFormat::gray8;
      const double luma = 0.299 * 60 + 0.587 * 110 + 0.114 * 160;
      for (std::size_t i = 0; i < samples.size(); ++i)
        ASSERT_NEAR(samples[i], gray ? luma : 60 + 50.0 * static_cast<double>(i % 3), 2.0)
            << name(from) << " to " << name(to) << " at " << i;
    }
}

TEST(FrameConverter, RgbToYcbcrByTheEquations) {
  const TestFrame rgb = make_frame(Content::noise, PixelFormat::rgb24, 64, 64, 5);
  Frame out;
  ASSERT_TRUE(io::FrameConverter().convert(rgb.view(), PixelFormat::yuv444p, out));
  const ConstFrameView view = std::as_const(out).view();
  for (int y = 0; y < 64; ++y)
    for (int x = 0; x < 64; ++x) {
      const std::uint8_t* p = rgb.row(0, y) + 3 * x;
      const double luma = 0.299 * p[0] + 0.587 * p[1] + 0.114 * p[2];
      const std::ptrdiff_t at = y * view.stride_bytes[0] + x;
      ASSERT_NEAR(view.data[0][at], luma, 0.51);
      ASSERT_NEAR(view.data[1][at], std::min(255.0, 128 + (p[2] - luma) / 1.772), 0.51);
      ASSERT_NEAR(view.data[2][at], std::min(255.0, 128 + (p[0] - luma) / 1.402), 0.51);
    }
}

TEST(FrameConverter, RefusesWhatItCannotRead) {
  io::FrameConverter converter;
  Frame out;
  EXPECT_EQ(converter.convert({}, PixelFormat::rgb24, out).code(), Errc::invalid_frame);
  TestFrame small(PixelFormat::gray8, 3, 3), large(PixelFormat::gray8, 4, 3);
  EXPECT_EQ(converter.convert(std::as_const(small).view(), large.view()).code(),
            Errc::invalid_frame);
}

}  // namespace
}  // namespace zerorun::test
