// Blocks whose coefficients reach the ends of their ranges.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "codec/arith/zigzag.hpp"

namespace zerorun::test {

using BlockSamples = std::array<std::uint8_t, kBlockSize>;

/// Samples that drive coefficient `at` to its largest magnitude: 255 where its basis function is
/// positive, 0 where it is negative, or the reverse.
inline BlockSamples extreme(std::size_t at, bool reverse) {
  BlockSamples samples;
  for (std::size_t i = 0; i < kBlockSize; ++i) {
    // The sign of cos((2 x + 1) u pi / 16): negative in the second and third quarter of a period.
    const auto negative = [](std::size_t sample, std::size_t frequency) {
      const std::size_t phase = (2 * sample + 1) * frequency % 32;
      return phase > 8 && phase < 24;
    };
    const bool low = negative(i % 8, at % 8) != negative(i / 8, at / 8);
    samples[i] = low != reverse ? 0 : 255;
  }
  return samples;
}

}  // namespace zerorun::test
