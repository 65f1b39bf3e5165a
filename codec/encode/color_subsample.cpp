// CPU reference of colour conversion and down-sampling. CUDA twin: cuda/stages/color_subsample.cu.
// SPDX-License-Identifier: MIT
#include "codec/encode/color_subsample.hpp"

#include <algorithm>
#include <vector>

#include "codec/arith/color.hpp"
#include "codec/base/pixel_rows.hpp"

namespace zerorun {
namespace {

/// Copies chroma that the frame has at the wanted resolution.
void copy_chroma(const ColorSubsampleArgs& a, int c, int first, int end) {
  const ComponentLayout at = component_layout(a.frame.format, c, a.frame.width, a.frame.height);
  const auto p = static_cast<std::size_t>(at.plane);
  for (int y = first; y < end; ++y) {
    const std::uint8_t* const in = a.frame.data[p] + y * a.frame.stride_bytes[p] + at.offset;
    std::uint8_t* const out = plane_row(a.plane[c], y);
    for (int x = 0; x < at.width; ++x) out[x] = in[x * at.step];
    extend_row(out, at.width, a.plane[c].width);
  }
}

}  // namespace

void fit_chroma_rows(const ConstPlaneView& in, const PlaneView& out, int first_row, int end_row,
                     std::vector<std::uint8_t>& rows) {
  const auto width = static_cast<std::size_t>(in.width);
  rows.resize((width + 2) * sizeof(std::int16_t));
  auto* const sums = reinterpret_cast<std::int16_t*>(rows.data());  // of a column's three samples
  for (int y = first_row; y < end_row; ++y) {
    const std::uint8_t* const above = plane_row(in, std::max(y - 1, 0));
    const std::uint8_t* const own = plane_row(in, y);
    const std::uint8_t* const below = plane_row(in, std::min(y + 1, in.height - 1));
    for (std::size_t x = 0; x < width; ++x)
      sums[x + 1] = static_cast<std::int16_t>(above[x] + 6 * own[x] + below[x]);
    sums[0] = sums[1];
    sums[width + 1] = sums[width];
    std::uint8_t* const to = plane_row(out, y);
    for (std::size_t x = 0; x < width; ++x)
      to[x] = fitted_chroma(own[x], sums[x] + 6 * sums[x + 1] + sums[x + 2]);
  }
}

Status color_subsample_cpu(const ColorSubsampleArgs& a, Exec& exec) {
  const int last_row = std::min(a.first_row + a.row_count, a.frame.height);
  const int first_chroma = a.first_row / a.v_max, last_chroma = ceil_div(last_row, a.v_max);
  const LumaFactors factors = luma_factors(native_subsampling(a.frame.format));
  const bool is_ycc = !is_rgb(a.frame.format) && a.frame.format != PixelFormat::gray8;
  if (a.components == 1 || (is_ycc && factors.h == a.h_max && factors.v == a.v_max)) {
    for (int y = a.first_row; y < last_row && a.plane[0].data != nullptr; ++y) {
      std::uint8_t* const row = plane_row(a.plane[0], y);
      read_ycc_row(a.frame, y, row, nullptr, nullptr, a.shapes_noise);
      extend_row(row, a.frame.width, a.plane[0].width);
    }
    for (int c = 1; c < a.components; ++c) copy_chroma(a, c, first_chroma, last_chroma);
    return Status::ok();
  }
  // v_max rows of chroma at full resolution, then the box filter. Grey has neutral chroma.
  const int full_width = std::max(a.plane[1].width * a.h_max, a.plane[0].width);
  const auto stride = static_cast<std::size_t>(full_width);
  std::vector<std::uint8_t> own;
  std::vector<std::uint8_t>& full = exec.rows != nullptr ? *exec.rows : own;
  const std::size_t chroma_rows = 2 * static_cast<std::size_t>(a.v_max);
  full.assign(stride * (chroma_rows + 1), 128);
  std::uint8_t* const unwanted = full.data() + stride * chroma_rows;
  for (int cy = first_chroma; cy < last_chroma; ++cy) {
    std::uint8_t *cb[2] = {}, *cr[2] = {};
    for (int i = 0; i < a.v_max; ++i) {
      const auto at = static_cast<std::size_t>(i);
      cb[i] = full.data() + 2 * at * stride;
      cr[i] = cb[i] + stride;
      const int y = std::min(cy * a.v_max + i, a.frame.height - 1);
      std::uint8_t* luma = a.plane[0].data != nullptr ? plane_row(a.plane[0], y) : unwanted;
      read_ycc_row(a.frame, y, luma, cb[i], cr[i], a.shapes_noise);
      extend_row(luma, a.frame.width, a.plane[0].width);
      extend_row(cb[i], a.frame.width, full_width);
      extend_row(cr[i], a.frame.width, full_width);
    }
    box_filter_row(cb[0], cb[1], a.h_max, a.v_max, plane_row(a.plane[1], cy), a.plane[1].width);
    box_filter_row(cr[0], cr[1], a.h_max, a.v_max, plane_row(a.plane[2], cy), a.plane[2].width);
  }
  return Status::ok();
}

}  // namespace zerorun
