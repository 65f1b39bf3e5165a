// Scaled and region decoding: which blocks of an image are wanted, and how large their samples are.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

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

}  // namespace zerorun
