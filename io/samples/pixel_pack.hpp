// Copies samples between packed or semi-planar layouts and planes. No arithmetic.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "zerorun/frame.hpp"

namespace zerorun::io {

/// Offsets of the bytes R, G, B and unused (-1 if there is none) in a pixel of a packed RGB format.
struct RgbLayout {
  int bytes, r, g, b, unused;
};
RgbLayout rgb_layout(PixelFormat format) noexcept;

/// From nv12, nv21, yuyv, uyvy to yuv420p or yuv422p, and back. `planar` has the planar format of
/// the same sampling and the same size.
void unpack_yuv(const ConstFrameView& packed, const FrameView& planar) noexcept;
void pack_yuv(const ConstFrameView& planar, const FrameView& packed) noexcept;

/// Any packed RGB to any other.
void swizzle_rgb(const ConstFrameView& in, const FrameView& out) noexcept;

/// Copies the rows; both frames have the same layout.
void copy_frame(const ConstFrameView& in, const FrameView& out) noexcept;

/// Row of a plane.
inline const std::uint8_t* row_of(const ConstFrameView& frame, int plane, int row) noexcept {
  const auto p = static_cast<std::size_t>(plane);
  return frame.data[p] + row * frame.stride_bytes[p];
}
inline std::uint8_t* row_of(const FrameView& frame, int plane, int row) noexcept {
  const auto p = static_cast<std::size_t>(plane);
  return frame.data[p] + row * frame.stride_bytes[p];
}

}  // namespace zerorun::io
