// The arithmetic that both backends share, against plain forms of it. tests/oracle compares the
// transforms with libjpeg-turbo's, bit by bit.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <random>

#include "codec/arith/dct8.hpp"
#include "codec/arith/quant.hpp"
#include "codec/arith/symbol.hpp"
#include "tests/support/extreme_block.hpp"

namespace zerorun::test {
namespace {

std::int32_t as_signed(std::uint32_t value) { return static_cast<std::int32_t>(value); }

/// Both are linear but for the half that rounds, so that equal results for no frequency and for
/// each alone are a proof; the others are there for the sceptic.
template <int kPass, int kScale>
void expect_same_by_products() {
  std::mt19937 random(3);
  for (std::size_t round = 0; round < 1000; ++round) {
    std::uint32_t expected[8], v[8];
    for (std::size_t i = 0; i < 8; ++i)
      expected[i] = v[i] = static_cast<std::uint32_t>(round <= 8 ? i + 1 == round : random());
    idct8_unshifted<kPass>(expected);
    idct8_by_products<kPass, kScale>(v);
    for (std::size_t i = 0; i < 8; ++i) ASSERT_EQ(v[i], expected[i] << kScale) << round << " " << i;
  }
}

TEST(Dct8, InverseByProductsIsTheSameModuloAPowerOfTwo) {
  expect_same_by_products<1, 0>();
  expect_same_by_products<2, 0>();
  expect_same_by_products<2, 4>();
}

/// Range that Divisor is proved for: |x| + 4 q < 2^15.
TEST(Quantise, CoefficientsFitTheDivisor) {
  std::int32_t largest = 0;
  for (std::size_t at = 0; at < kBlockSize; ++at)
    for (const bool reverse : {false, true}) {
      const BlockSamples samples = extreme(at, reverse);
      std::uint32_t work[8][8], column[8];
      for (std::size_t i = 0; i < kBlockSize; ++i)
        work[i / 8][i % 8] = static_cast<std::uint32_t>(samples[i] - 128);
      for (auto& row : work) fdct8<1>(row);
      for (std::size_t y = 0; y < 8; ++y) column[y] = work[y][at % 8];
      fdct8<2>(column);
      largest = std::max(largest, std::abs(as_signed(column[at / 8])));
    }
  // What the test below goes up to, and FloatQuant; roundings move a coefficient by far less
  // than 64.
  EXPECT_LE(largest, 16384 - 64);
  EXPECT_LT(largest + 4 * 255, 1 << 15);
}

TEST(Quantise, EveryDivisorAndEveryMagnitude) {
  for (int q = 1; q <= 255; ++q) {
    const Divisor divisor = make_divisor(static_cast<std::uint32_t>(q));
    for (int x = 0; x <= 16384; ++x) {
      const int expected = (x + 4 * q) / (8 * q);  // half away from zero
      ASSERT_EQ(quantise(x, divisor), expected) << x << " / " << 8 * q;
      ASSERT_EQ(quantise(-x, divisor), -expected) << -x << " / " << 8 * q;
    }
  }
}

TEST(Symbol, AppendedBitsGiveTheValueBack) {
  for (int value = -2047; value <= 2047; ++value) {
    const Symbol symbol = make_symbol(0, value, 0);
    const int ssss = symbol.rrrrssss & 15;
    EXPECT_EQ(ssss, value == 0 ? 0 : static_cast<int>(std::log2(std::abs(value))) + 1);
    EXPECT_EQ(extend(symbol.appended, ssss), value);
  }
}

}  // namespace
}  // namespace zerorun::test
