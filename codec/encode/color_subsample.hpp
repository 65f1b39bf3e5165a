// Encode stage 1: frame -> component planes. Inverse: color_upsample.
// SPDX-License-Identifier: MIT
#pragma once

#include "codec/arith/zigzag.hpp"
#include "codec/base/exec.hpp"
#include "codec/syntax/scan_layout.hpp"
#include "zerorun/frame.hpp"

namespace zerorun {

/// RGB is converted as JFIF says; chroma is reduced by libjpeg's box filters. Chroma that the frame
/// has at a lower resolution than asked for is repeated.
/// A plane's width is whole blocks (blocks_wide * 8): what lies right of the frame is filtered from
/// its last pixel, repeated. Its height is the component's own; the transform repeats the last row.
struct ColorSubsampleArgs {
  ConstFrameView frame;
  std::int32_t components;            ///< 1 or 3
  std::int32_t h_max, v_max;          ///< luma factors; chroma is 1x1
  PlaneView plane[kMaxComponents];    ///< out
  std::int32_t first_row, row_count;  ///< luma rows to do; first_row is a multiple of v_max
};

/// Of a plane that the stage makes: rows stay aligned for vector loads.
constexpr std::int32_t plane_stride(const ScanLayout::Component& component) {
  return component.blocks_wide * kBlockEdge;
}

Status color_subsample_cpu(const ColorSubsampleArgs& args, Exec& exec);
Status color_subsample_cuda(const ColorSubsampleArgs& args, Exec& exec);

}  // namespace zerorun
