// The first stage of the encoder by the fast kernels.
// SPDX-License-Identifier: MIT
#include "codec/fast/color_rows.hpp"

#include <algorithm>
#include <cstring>

#include "codec/arith/resample.hpp"
#include "codec/base/pixel_rows.hpp"
#include "codec/fast/frame_rows.hpp"

namespace zerorun::fast {
namespace {

/// Repeats the last of `valid` samples up to `total`.
void extend_row(std::uint8_t* row, int valid, int total) {
  if (total > valid)
    std::memset(row + valid, row[valid - 1], static_cast<std::size_t>(total - valid));
}

void subsample_rgb(const ColorKernels& kernels, const ColorSubsampleArgs& a, int last_row,
                   std::vector<std::uint8_t>& rows) {
  const RgbOrder order = rgb_order(a.frame.format);
  const bool full = a.h_max == 1 && a.v_max == 1;
  const int full_width = std::max(a.plane[1].width * a.h_max, a.plane[0].width);
  const std::size_t stride = static_cast<std::size_t>(full_width) + kRowPadding;
  rows.resize(stride * 4);
  for (int cy = a.first_row / a.v_max; cy < ceil_div(last_row, a.v_max); ++cy) {
    std::uint8_t* chroma[2][2];  // [row][Cb, Cr]
    for (int i = 0; i < a.v_max; ++i) {
      for (std::size_t c = 0; c < 2; ++c)
        chroma[i][c] = full ? plane_row(a.plane[1 + c], cy)
                            : rows.data() + (2 * static_cast<std::size_t>(i) + c) * stride;
      const int y = std::min(cy * a.v_max + i, a.frame.height - 1);
      std::uint8_t* luma = plane_row(a.plane[0], y);
      kernels.rgb_to_ycc(frame_row(a.frame, 0, y), order, a.frame.width, luma, chroma[i][0],
                         chroma[i][1]);
      extend_row(luma, a.frame.width, a.plane[0].width);
      for (std::uint8_t* row : chroma[i])
        extend_row(row, a.frame.width, full ? a.plane[1].width : full_width);
    }
    for (int c = 0; c < 2 && !full; ++c) {
      const std::uint8_t *row0 = chroma[0][c], *row1 = a.v_max == 2 ? chroma[1][c] : nullptr;
      const PlaneView& plane = a.plane[1 + c];
      if (a.h_max == 2)
        kernels.box_2(row0, row1, a.v_max, plane_row(plane, cy), plane.width);
      else
        box_filter_row(row0, row1, a.h_max, a.v_max, plane_row(plane, cy), plane.width);
    }
  }
}

void split_semi_planar(const ColorKernels& kernels, const ColorSubsampleArgs& a, int last_row) {
  for (int y = a.first_row; y < last_row; ++y) {
    std::uint8_t* luma = plane_row(a.plane[0], y);
    std::memcpy(luma, frame_row(a.frame, 0, y), static_cast<std::size_t>(a.frame.width));
    extend_row(luma, a.frame.width, a.plane[0].width);
  }
  const int pairs = component_extent(a.frame.width, 1, 2);
  const int cb = a.frame.format == PixelFormat::nv12 ? 1 : 2;
  for (int cy = a.first_row / 2; cy < ceil_div(last_row, 2); ++cy) {
    kernels.split(frame_row(a.frame, 1, cy), pairs, plane_row(a.plane[cb], cy),
                  plane_row(a.plane[3 - cb], cy));
    for (int c = 1; c < 3; ++c) extend_row(plane_row(a.plane[c], cy), pairs, a.plane[c].width);
  }
}

/// YUYV and UYVY as they are.
void split_packed_422(const ColorKernels& kernels, const ColorSubsampleArgs& a, int last_row,
                      std::vector<std::uint8_t>& rows) {
  const int pairs = component_extent(a.frame.width, 1, 2);
  rows.resize(static_cast<std::size_t>(2 * pairs));
  const bool luma_first = a.frame.format == PixelFormat::yuyv;
  for (int y = a.first_row; y < last_row; ++y) {
    // The luma plane has room for the second pixel of the last pair.
    std::uint8_t *luma = plane_row(a.plane[0], y), *both = rows.data();
    kernels.split(frame_row(a.frame, 0, y), 2 * pairs, luma_first ? luma : both,
                  luma_first ? both : luma);
    extend_row(luma, a.frame.width, a.plane[0].width);
    kernels.split(both, pairs, plane_row(a.plane[1], y), plane_row(a.plane[2], y));
    for (int c = 1; c < 3; ++c) extend_row(plane_row(a.plane[c], y), pairs, a.plane[c].width);
  }
}

}  // namespace

void color_subsample(const ColorKernels& kernels, const ColorSubsampleArgs& a,
                     std::vector<std::uint8_t>& rows) {
  const int last_row = std::min(a.first_row + a.row_count, a.frame.height);
  if (a.components == 3 && is_rgb(a.frame.format)) return subsample_rgb(kernels, a, last_row, rows);
  if (a.components == 3 && is_semi_planar(a.frame.format) && a.h_max == 2 && a.v_max == 2)
    return split_semi_planar(kernels, a, last_row);
  if (a.components == 3 && is_packed_422(a.frame.format) && a.h_max == 2 && a.v_max == 1)
    return split_packed_422(kernels, a, last_row, rows);
  Exec exec;
  exec.rows = &rows;
  (void)color_subsample_cpu(a, exec);  // the CPU stages cannot fail
}

}  // namespace zerorun::fast
