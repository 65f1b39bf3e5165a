// Luma, linear light and halving: what the CPU's meter and the GPU's make of pixels.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/arith/host_device.hpp"

namespace zerorun::rd {

/// Luma of JFIF, not rounded.
ZR_HD float luma_of(std::uint8_t r, std::uint8_t g, std::uint8_t b) {
  return 0.299F * static_cast<float>(r) + 0.587F * static_cast<float>(g) +
         0.114F * static_cast<float>(b);
}

/// Linear light of each value of sRGB.
struct LinearTable {
  float value[256];
};
LinearTable linear_table();

/// Mean of 2x2 samples of [height][width] `in`; the last row and column are repeated. MS-SSIM,
/// which drops them, has no sample (x, y) that would read them again.
ZR_HD float halved_at(const float* in, int width, int height, int x, int y) {
  const int x1 = 2 * x + 1 < width ? 2 * x + 1 : width - 1;
  const int y1 = 2 * y + 1 < height ? 2 * y + 1 : height - 1;
  const float* const a = in + static_cast<std::ptrdiff_t>(2 * y) * width;
  const float* const b = in + static_cast<std::ptrdiff_t>(y1) * width;
  return 0.25F * (a[2 * x] + a[x1] + b[2 * x] + b[x1]);
}

}  // namespace zerorun::rd
