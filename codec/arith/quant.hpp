// Quantisation of one coefficient (T.81 A.3.4), division by an exact reciprocal.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/arith/host_device.hpp"

namespace zerorun {

/// Divides by 8 q, q in 1..255, and rounds half away from zero; 8 is the factor that the forward
/// transform leaves. With n = |x| + 4 q < 2^15, L = ceil(log2 8 q), s = 15 + L and m = ceil(2^s / 8
/// q): m * 8 q - 2^s < 8 q <= 2^L, so the error n * (m * 8 q - 2^s) < 2^s and (n * m) >> s is
/// exact; n * m < 2^31.
struct Divisor {
  std::uint32_t half;        ///< 4 q
  std::uint32_t reciprocal;  ///< m
  std::uint32_t shift;       ///< s
};

ZR_HD Divisor make_divisor(std::uint32_t q) {
  const std::uint32_t d = 8 * q;
  std::uint32_t log2 = 3;
  while ((1u << log2) < d) ++log2;
  const std::uint32_t shift = 15 + log2;
  return {d / 2, ceil_div(1u << shift, d), shift};
}

/// x / 8 q
ZR_HD std::int32_t quantise(std::int32_t x, const Divisor& divisor) {
  const auto magnitude = static_cast<std::uint32_t>(x < 0 ? -x : x);
  const auto q =
      static_cast<std::int32_t>(((magnitude + divisor.half) * divisor.reciprocal) >> divisor.shift);
  return x < 0 ? -q : q;
}

/// Entry i of table t (0 luma, 1 chroma) at `part` of `parts` steps from one quality, where it is
/// `from`, to the next, where it is `to`. Entries that differ by 1 take their step at different
/// parts; neighbours far apart.
ZR_HD int quant_between(int from, int to, int t, int i, int part, int parts) {
  const int turn = (i * 5 + i / 8 * 3 + 7 * t) % parts;
  const int steps = to - from;
  const int moved = (steps < 0 ? -steps : steps) * part + turn;
  return from + (steps < 0 ? -1 : 1) * (moved / parts);
}

/// libjpeg multiplies 16 x 16 bits: a table entry above 32767 counts as negative.
ZR_HD std::int32_t dequantise(std::int16_t coefficient, std::uint16_t q) {
  return static_cast<std::int32_t>(coefficient) * static_cast<std::int16_t>(q);
}

}  // namespace zerorun
