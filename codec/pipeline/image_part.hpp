// Scaled and region decoding: which blocks of an image are wanted, and how large their samples are.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>

#include "codec/arith/integer.hpp"
#include "codec/syntax/header_parser.hpp"
#include "zerorun/decoder.hpp"

namespace zerorun {

/// What is decoded for a region is its window: the MCUs that it touches, and those around it that
/// the filters for chroma read. Planes and the frame that is made of them are the window's; the
/// region is then copied out of that frame.
struct ImagePart {
  /// The frame header of a picture that is the window: sizes, sampling factors after scaling, and
  /// where the components' planes begin.
  FrameHeader window;
  /// In libjpeg, a picture of 1/8 is enlarged by repetition.
  bool can_be_fancy = true;
  ImageSize size;          ///< of the frame that the caller gets
  int x = 0, y = 0;        ///< of the region in the window
  bool is_region = false;  ///< false: the frame is the window
};

/// Errc::invalid_argument with a sentence: a scale or a region that no picture has.
Status validate_part(int scale, const Region& region);

/// Errors: invalid_argument if the region goes beyond the picture; limit-free otherwise.
Result<ImagePart> image_part(const FrameHeader& frame, int scale, const Region& region);

/// Errc::invalid_argument for yuyv and uyvy if the region begins at an odd column.
Status check_region_format(const ImagePart& part, PixelFormat format);

/// Bytes of a plane's row before the region, and rows before it.
struct PlaneOffset {
  std::ptrdiff_t bytes;
  int rows;
};
PlaneOffset region_offset(PixelFormat format, int plane, int x, int y);

/// Copies a region to a place in a frame of the same format; both in host memory.
void copy_region(const ConstFrameView& from, const Region& region, const FrameView& to,
                 int to_x = 0, int to_y = 0);

/// MCUs of a scan: columns [x, x_end), rows [y, y_end).
struct McuWindow {
  std::int64_t x, x_end, y, y_end;

  bool covers(const ScanLayout& layout) const {
    return x == 0 && y == 0 && x_end >= layout.mcus_wide && y_end >= layout.mcus_high;
  }
};

/// Those that hold blocks of the planes. `planes` has one entry a component of the scan.
template <typename Planes>
McuWindow mcu_window(const ScanLayout& layout, const Planes& planes) {
  McuWindow window{layout.mcus_wide, 0, layout.mcus_high, 0};
  for (int i = 0; i < layout.components; ++i) {
    const PlaneView& plane = planes(i);
    const auto& shape = layout.component[i];
    const std::int32_t edge = 8 >> plane.shrink;
    const std::int64_t x_end = plane.block_x + ceil_div(plane.width, edge);
    const std::int64_t y_end = plane.block_y + ceil_div(plane.height, edge);
    window.x = std::min<std::int64_t>(window.x, plane.block_x / shape.h);
    window.y = std::min<std::int64_t>(window.y, plane.block_y / shape.v);
    window.x_end = std::max(window.x_end, ceil_div(x_end, std::int64_t{shape.h}));
    window.y_end = std::max(window.y_end, ceil_div(y_end, std::int64_t{shape.v}));
  }
  return window;
}

}  // namespace zerorun
