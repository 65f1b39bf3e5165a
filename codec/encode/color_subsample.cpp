// CPU reference of colour conversion and down-sampling. CUDA twin: cuda/stages/color_subsample.cu.
// SPDX-License-Identifier: MIT
#include "codec/encode/color_subsample.hpp"

#include <algorithm>
#include <vector>

#include "codec/base/pixel_rows.hpp"

namespace zerorun {
namespace {

/// For frames whose chroma has the wanted resolution.
void copy_chroma(const ColorSubsampleArgs& a, int first, int last) {
  const int valid = component_extent(a.frame.width, 1, a.h_max);
  for (int cy = first; cy < last; ++cy) {
    std::uint8_t* cb = plane_row(a.plane[1], cy);
    std::uint8_t* cr = plane_row(a.plane[2], cy);
    read_chroma_row(a.frame, cy, cb, cr);
    extend_row(cb, valid, a.plane[1].width);
    extend_row(cr, valid, a.plane[2].width);
  }
}

bool has_wanted_chroma(const ColorSubsampleArgs& a) {
  const Subsampling sampling = native_subsampling(a.frame.format);
  if (is_rgb(a.frame.format) || sampling == Subsampling::gray) return false;
  const LumaFactors luma = luma_factors(sampling);
  return a.h_max == luma.h && a.v_max == luma.v;
}

void luma_only(const ColorSubsampleArgs& a, int last_row) {
  if (a.plane[0].data == nullptr) return;
  for (int y = a.first_row; y < last_row; ++y) {
    std::uint8_t* row = plane_row(a.plane[0], y);
    read_ycc_row(a.frame, y, row, nullptr, nullptr);
    extend_row(row, a.frame.width, a.plane[0].width);
  }
}

}  // namespace

Status color_subsample_cpu(const ColorSubsampleArgs& a, Exec& exec) {
  const int last_row = std::min(a.first_row + a.row_count, a.frame.height);
  if (a.components == 1) {
    luma_only(a, last_row);
    return Status::ok();
  }
  const int first_chroma = a.first_row / a.v_max;
  const int last_chroma = ceil_div(last_row, a.v_max);
  if (has_wanted_chroma(a)) {
    luma_only(a, last_row);
    copy_chroma(a, first_chroma, last_chroma);
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
      read_ycc_row(a.frame, y, luma, cb[i], cr[i]);
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
