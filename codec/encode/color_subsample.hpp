// Encode stage 1: frame -> component planes. Inverse: color_upsample.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstring>
#include <vector>

#include "codec/arith/zigzag.hpp"
#include "codec/base/exec.hpp"
#include "codec/syntax/scan_layout.hpp"
#include "zerorun/frame.hpp"

namespace zerorun {

/// Converts RGB by arith/color.hpp and reduces chroma by its boxes. Chroma
/// that the frame has at a lower resolution than the stream is repeated. A plane is whole blocks
/// wide (blocks_wide * 8); right of the frame its last pixel is repeated. A plane is as high as the
/// component; the transform repeats the last row.
struct ColorSubsampleArgs {
  ConstFrameView frame;
  std::int32_t components;    ///< 1 or 3
  std::int32_t h_max, v_max;  ///< luma factors; chroma is 1x1
  /// Out. The first has no data where luma is not wanted, because the frame has it as it must be.
  PlaneView plane[kMaxComponents];
  std::int32_t first_row, row_count;  ///< luma rows to convert; first_row is a multiple of v_max
  bool shapes_noise = false;          ///< RGB is rounded with noise shaping
};

/// Bytes from row to row in a plane that the stage makes: rows are aligned for vector loads.
constexpr std::int32_t plane_stride(const ScanLayout::Component& component) {
  return component.blocks_wide * kBlockEdge;
}

/// Repeats the last of `valid` samples up to `total`.
inline void extend_row(std::uint8_t* row, int valid, int total) {
  if (total > valid)
    std::memset(row + valid, row[valid - 1], static_cast<std::size_t>(total - valid));
}

/// fitted_chroma() of rows of a plane that color_subsample made, with what is right of the frame;
/// beyond its edges the plane's samples are repeated. `rows` is scratch memory.
void fit_chroma_rows(const ConstPlaneView& in, const PlaneView& out, int first_row, int end_row,
                     std::vector<std::uint8_t>& rows);

Status color_subsample_cpu(const ColorSubsampleArgs& args, Exec& exec);
Status color_subsample_cuda(const ColorSubsampleArgs& args, Exec& exec);

}  // namespace zerorun
