// Where the planes of a frame lie in one piece of memory.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/arith/integer.hpp"
#include "zerorun/frame.hpp"

namespace zerorun {

/// Places the planes of a frame one after another at `memory`; each row takes a multiple of `align`
/// bytes. Returns the bytes of all planes, below 2^36. With null memory, only strides and bytes are
/// computed.
inline std::size_t place_planes(FrameView& frame, std::uint8_t* memory, std::size_t align) {
  std::size_t bytes = 0;
  for (int p = 0; p < plane_count(frame.format); ++p) {
    const auto plane = static_cast<std::size_t>(p);
    const std::size_t stride = round_up(plane_row_bytes(frame.format, p, frame.width), align);
    frame.stride_bytes[plane] = static_cast<std::ptrdiff_t>(stride);
    frame.data[plane] = memory == nullptr ? nullptr : memory + bytes;
    bytes += stride * static_cast<std::size_t>(plane_rows(frame.format, p, frame.height));
  }
  return bytes;
}

}  // namespace zerorun
