// Zig-zag order of the 64 coefficients (T.81 Figure 5).
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

namespace zerorun {

inline constexpr int kBlockSize = 64;  ///< coefficients or samples of a block
inline constexpr int kBlockEdge = 8;

/// kNaturalOfZigzag[k] = row-major index of zig-zag position k.
inline constexpr std::array<std::uint8_t, kBlockSize> kNaturalOfZigzag{
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

}  // namespace zerorun
