// The first stage of the encoder and the last of the decoder by the fast kernels.
// SPDX-License-Identifier: MIT
#include "codec/fast/color_rows.hpp"

#include <algorithm>
#include <cstring>

#include "codec/arith/resample.hpp"
#include "codec/base/pixel_rows.hpp"

namespace zerorun::fast {
namespace {

std::uint8_t* plane_row(const PlaneView& plane, int y) {
  return plane.data + y * plane.stride_bytes;
}
const std::uint8_t* plane_row(const ConstPlaneView& plane, int y) {
  return plane.data + y * plane.stride_bytes;
}
template <typename View>
auto frame_row(const View& frame, std::size_t plane, int y) {
  return frame.data[plane] + y * frame.stride_bytes[plane];
}

/// Repeats the last of `valid` samples up to `total`.
void extend_row(std::uint8_t* row, int valid, int total) {
  if (total > valid)
    std::memset(row + valid, row[valid - 1], static_cast<std::size_t>(total - valid));
}

bool is_semi_planar(PixelFormat format) {
  return format == PixelFormat::nv12 || format == PixelFormat::nv21;
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

/// A component's rows at the size of the picture; scratch memory for them.
class EnlargedRows {
 public:
  EnlargedRows(const ColorKernels& kernels, const ColorUpsampleArgs& a, int c, std::uint8_t* memory)
      : kernels_(kernels),
        a_(a),
        c_(c),
        filter_(filter_of(a, c)),
        out_(memory),
        sums_(reinterpret_cast<std::uint16_t*>(memory + row_bytes(a.plane[c].width))) {}

  static std::size_t row_bytes(int width) { return 2 * static_cast<std::size_t>(width) + 128; }
  static std::size_t memory_bytes(int width) {
    return row_bytes(width) + 2 * (static_cast<std::size_t>(width) + 2 * kRowPadding);
  }
  static bool can(const ColorUpsampleArgs& a, int c) {
    return filter_of(a, c) != UpsampleFilter::repeat || a.h[c] == a.h_max || 2 * a.h[c] == a.h_max;
  }

  /// Padded; valid until the next call.
  const std::uint8_t* row(int y) {
    const ConstPlaneView& plane = a_.plane[c_];
    const int cy = nearer(y, a_.v[c_], a_.v_max);
    const std::uint8_t* near = plane_row(plane, cy);
    const std::uint8_t* far = plane_row(plane, further(y, cy, plane.height));
    switch (filter_) {
      case UpsampleFilter::copy:
        return near;
      case UpsampleFilter::fancy_2x1:
        kernels_.fancy_2(near, nullptr, plane.width, sums_, out_);
        break;
      case UpsampleFilter::fancy_2x2:
        kernels_.fancy_2(near, far, plane.width, sums_, out_);
        break;
      case UpsampleFilter::fancy_1x2:
        kernels_.fancy_1x2(near, far, plane.width, triangle_bias(y), out_);
        break;
      case UpsampleFilter::repeat:
        if (a_.h[c_] == a_.h_max) return near;
        kernels_.repeat_2(near, plane.width, out_);
        break;
    }
    return out_;
  }

 private:
  const ColorKernels& kernels_;
  const ColorUpsampleArgs& a_;
  int c_;
  UpsampleFilter filter_;
  std::uint8_t* out_;
  std::uint16_t* sums_;
};

void upsample_rgb(const ColorKernels& kernels, const ColorUpsampleArgs& a, int last_row,
                  std::vector<std::uint8_t>& rows) {
  const int widest = std::max({a.plane[0].width, a.plane[1].width, a.plane[2].width});
  const std::size_t bytes = EnlargedRows::memory_bytes(widest) / 64 * 64 + 64;
  rows.resize(3 * bytes);
  EnlargedRows luma(kernels, a, 0, rows.data()), cb(kernels, a, 1, rows.data() + bytes),
      cr(kernels, a, 2, rows.data() + 2 * bytes);
  const RgbOrder order = rgb_order(a.frame.format);
  for (int y = a.first_row; y < last_row; ++y)
    kernels.ycc_to_rgb(luma.row(y), cb.row(y), cr.row(y), a.frame.width, order,
                       frame_row(a.frame, 0, y));
}

void join_semi_planar(const ColorKernels& kernels, const ColorUpsampleArgs& a, int last_row) {
  for (int y = a.first_row; y < last_row; ++y)
    std::memcpy(frame_row(a.frame, 0, y), plane_row(a.plane[0], y),
                static_cast<std::size_t>(a.frame.width));
  const int cb = a.frame.format == PixelFormat::nv12 ? 1 : 2;
  for (int cy = a.first_row / 2; cy < ceil_div(last_row, 2); ++cy)
    kernels.interleave(plane_row(a.plane[cb], cy), plane_row(a.plane[3 - cb], cy),
                       component_extent(a.frame.width, 1, 2), frame_row(a.frame, 1, cy));
}

}  // namespace

void color_subsample(const ColorKernels& kernels, const ColorSubsampleArgs& a,
                     std::vector<std::uint8_t>& rows) {
  const int last_row = std::min(a.first_row + a.row_count, a.frame.height);
  if (a.components == 3 && is_rgb(a.frame.format)) return subsample_rgb(kernels, a, last_row, rows);
  if (a.components == 3 && is_semi_planar(a.frame.format) && a.h_max == 2 && a.v_max == 2)
    return split_semi_planar(kernels, a, last_row);
  Exec exec;
  exec.rows = &rows;
  (void)color_subsample_cpu(a, exec);  // the CPU stages cannot fail
}

void color_upsample(const ColorKernels& kernels, const ColorUpsampleArgs& a,
                    std::vector<std::uint8_t>& rows) {
  const int last_row = std::min(a.first_row + a.row_count, a.frame.height);
  const bool ycc = a.components == 3 && a.model == ColorModel::ycbcr;
  if (ycc && is_rgb(a.frame.format) && EnlargedRows::can(a, 0) && EnlargedRows::can(a, 1) &&
      EnlargedRows::can(a, 2))
    return upsample_rgb(kernels, a, last_row, rows);
  if (ycc && is_semi_planar(a.frame.format) && stored_as_wanted(a))
    return join_semi_planar(kernels, a, last_row);
  Exec exec;
  (void)color_upsample_cpu(a, exec);  // the CPU stages cannot fail
}

}  // namespace zerorun::fast
