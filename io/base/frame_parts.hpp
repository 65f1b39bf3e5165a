// The rows of a frame as parts of one read or write.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include "zerorun/frame.hpp"

namespace zerorun::io {

/// std::byte or const std::byte, as the bytes of the view.
template <typename Byte>
using PartOf = std::span<std::conditional_t<std::is_const_v<Byte>, const std::byte, std::byte>>;

/// Adds the rows of a plane: one part if they lie side by side, else one for each.
template <typename Byte>
void add_plane(const BasicFrameView<Byte>& frame, int plane, std::vector<PartOf<Byte>>& parts) {
  using Target = typename PartOf<Byte>::element_type;
  const auto p = static_cast<std::size_t>(plane);
  const std::size_t bytes = plane_row_bytes(frame.format, plane, frame.width);
  const int rows = plane_rows(frame.format, plane, frame.height);
  auto* const first = reinterpret_cast<Target*>(frame.data[p]);
  if (frame.stride_bytes[p] == static_cast<std::ptrdiff_t>(bytes)) {
    parts.emplace_back(first, bytes * static_cast<std::size_t>(rows));
    return;
  }
  for (int row = 0; row < rows; ++row)
    parts.emplace_back(first + row * frame.stride_bytes[p], bytes);
}

/// Adds the rows of all planes.
template <typename Byte>
void add_frame(const BasicFrameView<Byte>& frame, std::vector<PartOf<Byte>>& parts) {
  for (int plane = 0; plane < plane_count(frame.format); ++plane) add_plane(frame, plane, parts);
}

}  // namespace zerorun::io
