// Frame geometry for every format, what validate() refuses, and the memory of Frame.
// SPDX-License-Identifier: MIT
#include "zerorun/frame.hpp"

#include <array>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include "tests/support/test_frame.hpp"

namespace zerorun::test {
namespace {

/// From the table of frame.hpp, in its own words.
struct Geometry {
  PixelFormat format;
  const char* name;
  int planes;
  std::array<std::size_t, 2> row_bytes_at_5;  // planes 0 and 1 of 5x5 pixels
  std::array<int, 2> rows_at_5;
  Subsampling native;
};
constexpr Geometry kGeometry[] = {
    {PixelFormat::gray8, "gray8", 1, {5, 0}, {5, 0}, Subsampling::gray},
    {PixelFormat::yuv420p, "yuv420p", 3, {5, 3}, {5, 3}, Subsampling::s420},
    {PixelFormat::yuv422p, "yuv422p", 3, {5, 3}, {5, 5}, Subsampling::s422},
    {PixelFormat::yuv444p, "yuv444p", 3, {5, 5}, {5, 5}, Subsampling::s444},
    {PixelFormat::yuv440p, "yuv440p", 3, {5, 5}, {5, 3}, Subsampling::s440},
    {PixelFormat::yuv411p, "yuv411p", 3, {5, 2}, {5, 5}, Subsampling::s411},
    {PixelFormat::nv12, "nv12", 2, {5, 6}, {5, 3}, Subsampling::s420},
    {PixelFormat::nv21, "nv21", 2, {5, 6}, {5, 3}, Subsampling::s420},
    {PixelFormat::yuyv, "yuyv422", 1, {12, 0}, {5, 0}, Subsampling::s422},
    {PixelFormat::uyvy, "uyvy422", 1, {12, 0}, {5, 0}, Subsampling::s422},
    {PixelFormat::rgb24, "rgb24", 1, {15, 0}, {5, 0}, Subsampling::s444},
    {PixelFormat::bgr24, "bgr24", 1, {15, 0}, {5, 0}, Subsampling::s444},
    {PixelFormat::rgbx32, "rgb0", 1, {20, 0}, {5, 0}, Subsampling::s444},
    {PixelFormat::bgrx32, "bgr0", 1, {20, 0}, {5, 0}, Subsampling::s444},
    {PixelFormat::xrgb32, "0rgb", 1, {20, 0}, {5, 0}, Subsampling::s444},
    {PixelFormat::xbgr32, "0bgr", 1, {20, 0}, {5, 0}, Subsampling::s444},
};
static_assert(std::size(kGeometry) == kPixelFormatCount);

TEST(FrameGeometry, IsAsDocumented) {
  for (const Geometry& g : kGeometry) {
    SCOPED_TRACE(g.name);
    EXPECT_EQ(name(g.format), g.name);
    EXPECT_EQ(plane_count(g.format), g.planes);
    EXPECT_EQ(native_subsampling(g.format), g.native);
    EXPECT_EQ(is_rgb(g.format), g.format >= PixelFormat::rgb24);
    EXPECT_EQ(is_planar_yuv(g.format), g.planes == 3 || g.format == PixelFormat::gray8);
    for (int p = 0; p < g.planes; ++p) {
      const std::size_t column = p == 0 ? 0 : 1;
      EXPECT_EQ(plane_row_bytes(g.format, p, 5), g.row_bytes_at_5[column]);
      EXPECT_EQ(plane_rows(g.format, p, 5), g.rows_at_5[column]);
      EXPECT_GE(plane_row_bytes(g.format, p, 1), 1u);
      EXPECT_EQ(plane_rows(g.format, p, 1), 1);
    }
  }
}

TEST(FrameValidate, RefusesWhatCannotBeRead) {
  for (const PixelFormat format : kAllFormats) {
    SCOPED_TRACE(name(format));
    const TestFrame frame(format, 7, 5);
    for (int p = 0; p < plane_count(format); ++p) {
      const auto plane = static_cast<std::size_t>(p);
      ConstFrameView view = frame.view();
      view.data[plane] = nullptr;
      EXPECT_EQ(validate(view).code(), Errc::invalid_frame);
      view = frame.view();
      view.stride_bytes[plane] -= 1;
      EXPECT_EQ(validate(view).code(), Errc::invalid_frame);
      view.stride_bytes[plane] = -view.stride_bytes[plane];
      EXPECT_EQ(validate(view).code(), Errc::invalid_frame);
      view.stride_bytes[plane] = 0;
      EXPECT_EQ(validate(view).code(), Errc::invalid_frame);
    }
  }
}

TEST(FrameValidate, RefusesImpossibleSizes) {
  std::uint8_t sample = 0;
  for (const int size :
       {0, -1, 65536, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()}) {
    ConstFrameView view{PixelFormat::gray8, size, 1, {&sample}, {65536}};
    EXPECT_EQ(validate(view).code(), Errc::invalid_frame) << size;
    view = {PixelFormat::gray8, 1, size, {&sample}, {65536}};
    EXPECT_EQ(validate(view).code(), Errc::invalid_frame) << size;
  }
}

TEST(FrameValidate, ExtremeStridesDoNotOverflow) {
  std::uint8_t sample = 0;
  ConstFrameView view{PixelFormat::gray8, 9, 2, {&sample}, {0}};
  view.stride_bytes[0] = std::numeric_limits<std::ptrdiff_t>::min();
  EXPECT_TRUE(validate(view).is_ok());  // absurd, but wide enough; nothing is read here
}

TEST(Frame, CreateMakesAlignedRowsOfTheFormat) {
  for (const PixelFormat format : kAllFormats) {
    auto frame = Frame::create(format, 33, 17);
    ASSERT_TRUE(frame.is_ok()) << frame.status().message();
    EXPECT_EQ(frame->format(), format);
    EXPECT_EQ(frame->width(), 33);
    EXPECT_EQ(frame->height(), 17);
    EXPECT_TRUE(validate(frame->view()).is_ok());
    for (int p = 0; p < plane_count(format); ++p) {
      const auto plane = static_cast<std::size_t>(p);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(frame->view().data[plane]) % 64, 0u);
      EXPECT_EQ(frame->view().stride_bytes[plane] % 64, 0);
      for (int y = 0; y < plane_rows(format, p, 17); ++y)  // all of it can be written
        std::fill_n(frame->view().data[plane] + y * frame->view().stride_bytes[plane],
                    plane_row_bytes(format, p, 33), std::uint8_t{1});
    }
  }
}

TEST(Frame, ReshapeKeepsMemoryThatIsLargeEnough) {
  auto frame = Frame::create(PixelFormat::rgb24, 640, 480);
  ASSERT_TRUE(frame.is_ok());
  const std::uint8_t* memory = frame->view().data[0];
  ASSERT_TRUE(frame->reshape(PixelFormat::yuv420p, 320, 200).is_ok());
  EXPECT_EQ(frame->view().data[0], memory);
  EXPECT_TRUE(validate(frame->view()).is_ok());
  EXPECT_EQ(frame->view().width, 320);
  ASSERT_TRUE(frame->reshape(PixelFormat::rgb24, 640, 480).is_ok());
  EXPECT_EQ(frame->view().data[0], memory);
  // A refused shape leaves the frame as it was.
  EXPECT_EQ(frame->reshape(PixelFormat::rgb24, 0, 480).code(), Errc::invalid_frame);
  EXPECT_EQ(frame->width(), 640);
}

}  // namespace
}  // namespace zerorun::test
