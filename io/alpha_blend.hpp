// Shows a frame over black or white, by an alpha channel.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "zerorun/content.hpp"
#include "zerorun/frame.hpp"

namespace zerorun::io {

/// Alpha of every pixel of a frame; the highest value of the depth is opaque.
struct AlphaPlane {
  const std::uint8_t* data = nullptr;  ///< bytes, or native 16-bit words if the depth is over 8
  std::ptrdiff_t stride_bytes = 0;
  int step_bytes = 1;  ///< from a pixel to the next one of its row
  int depth_bits = 8;  ///< 8 to 16
};

/// Changes `frame`, which is full range: planar YCbCr, grey or RGB. A chroma sample takes the mean
/// alpha of the pixels that it covers. Alpha::ignore changes nothing.
void blend(const AlphaPlane& alpha, Alpha over, const FrameView& frame) noexcept;

}  // namespace zerorun::io
