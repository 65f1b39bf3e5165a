// Rows of any pixel format as full-resolution Y, Cb, Cr samples, and back (CPU); and
// where the samples of a format lie (both backends).
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "zerorun/frame.hpp"

namespace zerorun {

/// Bytes of R, G, B in a packed pixel.
struct RgbOrder {
  int r, g, b, pixel_bytes;
};
RgbOrder rgb_order(PixelFormat format);

/// Where the chroma of a YCbCr format lies: bytes of the first Cb and Cr, and from one to the next.
struct ChromaAccess {
  int cb_plane, cr_plane;
  int cb_offset, cr_offset;
  int step;
  int shift_x, shift_y;  ///< log2 of the sub-sampling
};
/// Not for gray8 and RGB.
ChromaAccess chroma_access(PixelFormat format);

/// Where luma lies in plane 0: in every second byte of the packed 4:2:2 formats.
struct LumaAccess {
  int offset, step;
};
LumaAccess luma_access(PixelFormat format);

/// Reads row y of the frame: one sample a pixel, chroma of sub-sampled formats repeated. cb and cr
/// are not written for gray8 or if they are null. Rows hold at least `width` samples.
void read_ycc_row(const ConstFrameView& frame, int y, std::uint8_t* luma, std::uint8_t* cb,
                  std::uint8_t* cr);

/// Reads chroma row cy of a YCbCr frame at the frame's own resolution.
void read_chroma_row(const ConstFrameView& frame, int cy, std::uint8_t* cb, std::uint8_t* cr);

/// Writes row y of an RGB frame from full-resolution samples.
void write_rgb_row(const FrameView& frame, int y, const std::uint8_t* luma, const std::uint8_t* cb,
                   const std::uint8_t* cr);

/// Writes row y of an RGB frame from R, G and B samples.
void pack_rgb_row(const FrameView& frame, int y, const std::uint8_t* r, const std::uint8_t* g,
                  const std::uint8_t* b);

/// Writes luma row y of a YCbCr or grey frame, and chroma row cy at the frame's own resolution.
void write_luma_row(const FrameView& frame, int y, const std::uint8_t* luma);
void write_chroma_row(const FrameView& frame, int cy, const std::uint8_t* cb,
                      const std::uint8_t* cr);

/// One row of libjpeg's box filters: `out` samples, each from h x rows input samples (rows is 1 or
/// 2). 2x1 and 2x2 use libjpeg's alternating bias, the others round half up. `row1` is not read
/// when rows is 1.
void box_filter_row(const std::uint8_t* row0, const std::uint8_t* row1, int h, int rows,
                    std::uint8_t* out, int out_width);

}  // namespace zerorun
