// The quantiser in single precision equals the integer one for every input that it can get.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>

#include "codec/arith/dct8.hpp"
#include "codec/arith/quant.hpp"
#include "codec/arith/tune.hpp"
#include "cuda/encode/float_quant.hpp"

namespace zerorun::test {
namespace {

constexpr int kMostCoefficient = 16384;

/// All table entries and all coefficients, for luma and chroma.
TEST(FloatQuant, EqualsQuantise) {
  for (const float magic : {kLevelMagic, kLevelMagic + kChromaMagic}) {
    const auto magic_bits = std::bit_cast<std::uint32_t>(magic);
    for (std::uint32_t q = 1; q <= 255; ++q) {
      const Divisor divisor = make_divisor(q);
      const float reciprocal = quant_reciprocal(q);
      for (int x = -kMostCoefficient; x <= kMostCoefficient; ++x) {
        const std::uint32_t found =
            quantise_float(kFloatMagicBits + static_cast<std::uint32_t>(x), reciprocal, magic);
        ASSERT_EQ(static_cast<int>(found - magic_bits), quantise(x, divisor)) << x << " " << q;
      }
    }
  }
}

/// The quotients of the tuned kernels, and how they are rounded. Overshoot.RangesHold has the
/// largest coefficients of text.
TEST(FloatQuant, FineEqualsFineMagnitude) {
  constexpr int kMostOfText = 64 * (128 + int{kMostOvershoot}) + 64;
  for (std::uint32_t q = 1; q <= 255; ++q)
    for (int x = -kMostOfText; x <= kMostOfText; ++x) {
      const std::uint32_t bits =
          fine_float(kFloatMagicBits + static_cast<std::uint32_t>(x), quant_reciprocal(q));
      const auto fine = static_cast<std::int32_t>(bits - kFineMagicBits);
      const auto magnitude = static_cast<std::uint32_t>(std::abs(x));
      const auto exact = static_cast<std::int32_t>((8 * magnitude + q) / (2 * q));
      ASSERT_EQ(fine, x < 0 ? -exact : exact) << x << " " << q;
      if (magnitude >= 7800 && q == 1) continue;  // limited: may_exceed_limit()
      ASSERT_EQ(fine_magnitude(magnitude, q, fine_reciprocal(q)), std::abs(fine));
      const float steps = std::bit_cast<float>(bits) - kFineMagic;
      for (const float magic : {kLevelMagic, kLevelMagic + kChromaMagic}) {
        const std::uint32_t rounded =
            round_float(steps, magic) - std::bit_cast<std::uint32_t>(magic);
        const std::int32_t level = round_fine(static_cast<std::uint32_t>(std::abs(fine)));
        ASSERT_EQ(static_cast<std::int32_t>(rounded), x < 0 ? -level : level) << x << " " << q;
      }
    }
}

/// It reaches the same limits, at all weights of the tuned modes and of thrift.
TEST(FloatQuant, ZoneReachesTheLimitsOfTheDeadZone) {
  std::uint64_t sure[kBlockSize] = {};
  float sure_as_float[kBlockSize] = {};
  for (int k = 1; k < kBlockSize; ++k) {
    sure[k] = sure_from(k);
    sure_as_float[k] = static_cast<float>(sure_from(k));
  }
  for (std::uint32_t weight = 1; weight <= 1 << 20; weight += weight / 4000 + 1) {
    const FloatZone zone(weight);
    for (std::uint32_t fine = 0; fine <= kMostFine; fine += fine / 96 + 1) {
      const float product = zone.product(static_cast<float>(fine) / kFineStep);
      const std::uint64_t exact = fine < kFineHalf ? 0 : zone_product(fine, weight);
      // Assertions are slow: one for 63 comparisons.
      int differs = 0;
      for (int k = 1; k < kBlockSize; ++k)
        if ((product >= sure_as_float[k]) != (exact >= sure[k])) differs = k;
      ASSERT_EQ(differs, 0) << fine << " " << weight;
      for (const bool gathers : {false, true}) {
        const std::uint32_t likely = likely_from(weight, gathers);
        ASSERT_EQ(product >= static_cast<float>(likely), exact >= likely)
            << fine << " " << gathers << " " << weight;
      }
    }
  }
}

/// fdct8() of a block of level-shifted samples, each of which is +-127.5 rounded by the sign of
/// `pattern`; `sign` turns all of them round.
int coefficient_of(const std::int32_t (&pattern)[8][8], int sign, int u, int v) {
  std::uint32_t work[8][8];
  for (int y = 0; y < 8; ++y) {
    for (int x = 0; x < 8; ++x)
      work[y][x] = static_cast<std::uint32_t>(sign * pattern[y][x] > 0 ? 127 : -128);
    fdct8<1>(work[y]);
  }
  std::uint32_t column[8];
  for (int y = 0; y < 8; ++y) column[y] = work[y][u];
  fdct8<2>(column);
  return static_cast<std::int32_t>(column[v]);
}

/// The largest coefficients that 8-bit samples give: each sample has the sign of its weight.
TEST(FloatQuant, CoefficientsStayInTheComparedRange) {
  std::int64_t weight[8][8];  // of sample x in frequency u of a row
  for (int x = 0; x < 8; ++x) {
    std::uint64_t impulse[8] = {};
    impulse[x] = std::uint64_t{1} << 30;
    fdct8<1>(impulse);
    for (int u = 0; u < 8; ++u) weight[u][x] = static_cast<std::int64_t>(impulse[u]);
  }
  int largest = 0;
  for (int u = 0; u < 8; ++u)
    for (int v = 0; v < 8; ++v) {
      std::int32_t pattern[8][8];
      for (int y = 0; y < 8; ++y)
        for (int x = 0; x < 8; ++x)
          pattern[y][x] = (weight[u][x] > 0) == (weight[v][y] > 0) ? 1 : -1;
      for (const int sign : {-1, 1})
        largest = std::max(largest, std::abs(coefficient_of(pattern, sign, u, v)));
    }
  EXPECT_GE(largest, 8192);
  EXPECT_LE(largest, kMostCoefficient - 64);  // roundings move a coefficient by far less than 64
}

}  // namespace
}  // namespace zerorun::test
