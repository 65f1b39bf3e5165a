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
#include "codec/base/pixel_rows.hpp"
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

/// JFIF's equations: the components of a pixel as they are before they are rounded.
struct ExactYcc {
  double y, cb, cr;
};
ExactYcc exact_ycc(const std::uint8_t* rgb) {
  const double r = rgb[0], g = rgb[1], b = rgb[2];
  return {0.299 * r + 0.587 * g + 0.114 * b, 128 - 0.168736 * r - 0.331264 * g + 0.5 * b,
          128 + 0.5 * r - 0.418688 * g - 0.081312 * b};
}

/// The sum of any first samples of four is that of the exact ones, rounded down from 1/4 or 3/4
/// above it. A grey stays the grey that it is, and 256 becomes 255.
TEST(NoiseShaping, SumsOfNeighboursAreRounded) {
  std::mt19937 random(5);
  constexpr int kWidth = 22;
  for (int y = 0; y < 2000; ++y) {
    std::uint8_t rgb[kWidth * 3], luma[kWidth], cb[kWidth], cr[kWidth];
    for (std::uint8_t& sample : rgb) sample = static_cast<std::uint8_t>(random());
    const bool is_grey = y % 5 == 0;
    for (std::size_t x = 0; is_grey && x < kWidth; ++x) std::fill_n(rgb + 3 * x, 3, rgb[x]);
    const ConstFrameView frame{PixelFormat::rgb24, kWidth, y + 1, {rgb}, {0}};
    read_ycc_row(frame, y, luma, cb, cr, true);
    const double first = y % 2 == 0 ? 0.25 : 0.75;
    ExactYcc sum{}, is{};
    for (std::size_t x = 0; x < kWidth; ++x) {
      if (x % 4 == 0) sum = is = {first, first, first};
      const ExactYcc exact = exact_ycc(rgb + 3 * x);
      sum = {sum.y + exact.y, sum.cb + exact.cb, sum.cr + exact.cr};
      is = {is.y + luma[x], is.cb + cb[x], is.cr + cr[x]};
      ASSERT_NEAR(sum.y - is.y, 0.5 - first, 0.51);
      ASSERT_NEAR(sum.cb - is.cb, 0.5 - first, 0.51);
      ASSERT_NEAR(sum.cr - is.cr, 0.5 - first, 0.51);
      ASSERT_TRUE(!is_grey || (luma[x] == rgb[3 * x] && cb[x] == 128 && cr[x] == 128));
    }
  }
  const std::uint8_t blue[] = {0, 0, 255, 0, 0, 255};
  std::uint8_t luma[2], cb[2], cr[2];
  read_ycc_row({PixelFormat::rgb24, 2, 1, {blue}, {6}}, 0, luma, cb, cr, true);
  EXPECT_EQ(cb[0], 255);
  EXPECT_EQ(cb[1], 255);
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
