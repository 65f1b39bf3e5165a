// Rows of planes and frames.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/syntax/scan_layout.hpp"
#include "zerorun/frame.hpp"

namespace zerorun::fast {

inline std::uint8_t* plane_row(const PlaneView& plane, int y) {
  return plane.data + y * plane.stride_bytes;
}
inline const std::uint8_t* plane_row(const ConstPlaneView& plane, int y) {
  return plane.data + y * plane.stride_bytes;
}
template <typename View>
auto frame_row(const View& frame, std::size_t plane, int y) {
  return frame.data[plane] + y * frame.stride_bytes[plane];
}

inline bool is_semi_planar(PixelFormat format) {
  return format == PixelFormat::nv12 || format == PixelFormat::nv21;
}
inline bool is_packed_422(PixelFormat format) {
  return format == PixelFormat::yuyv || format == PixelFormat::uyvy;
}

}  // namespace zerorun::fast
