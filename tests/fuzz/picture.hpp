// A frame for the fuzz targets to decode into.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "zerorun/frame.hpp"

namespace zerorun::fuzz {

/// A frame in one piece of memory of exactly its size.
struct Picture {
  Picture(PixelFormat format, int width, int height, std::uint8_t fill)
      : view{format, width, height, {}, {}} {
    std::size_t total = 0;
    std::size_t offsets[3] = {};
    for (int p = 0; p < plane_count(format); ++p) {
      const std::size_t row = plane_row_bytes(format, p, width);
      offsets[p] = total;
      view.stride_bytes[static_cast<std::size_t>(p)] = static_cast<std::ptrdiff_t>(row);
      total += row * static_cast<std::size_t>(plane_rows(format, p, height));
    }
    memory.assign(total, fill);
    for (int p = 0; p < plane_count(format); ++p)
      view.data[static_cast<std::size_t>(p)] = memory.data() + offsets[p];
  }
  std::vector<std::uint8_t> memory;
  FrameView view;
};

}  // namespace zerorun::fuzz
