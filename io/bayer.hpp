// The pattern of ordered dithering.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace zerorun::io {

/// 0 to 252 in steps of 4, each once in 8x8 pixels.
constexpr std::uint32_t bayer(int x, int y) noexcept {
  std::uint32_t value = 0;
  for (int bit = 0; bit < 3; ++bit) {
    const auto column = static_cast<std::uint32_t>(x >> bit & 1);
    const auto row = static_cast<std::uint32_t>(y >> bit & 1);
    value = value << 2 | (column ^ row) << 1 | row;
  }
  return value << 2;
}

}  // namespace zerorun::io
