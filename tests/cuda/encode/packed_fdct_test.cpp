// The packed passes of the forward transform equal fdct8() for every input. Both are a matrix
// product modulo 2^32, then a rounding shift: among so many inputs a wrong weight shows as a wrong
// rounding or a wrong split into bytes does.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstdlib>

#include "codec/arith/dct8.hpp"
#include "codec/arith/quant.hpp"
#include "codec/arith/tune.hpp"
#include "cuda/encode/packed_fdct.hpp"
#include "tests/support/random.hpp"

namespace zerorun::test {
namespace {

void expect_same_row(const std::uint8_t (&samples)[8]) {
  std::uint32_t expected[8], found[8], half[2] = {};
  for (int i = 0; i < 8; ++i) {
    expected[i] = samples[i] - 128u;
    half[i / 4] |= std::uint32_t{samples[i]} << (8 * (i % 4));
  }
  fdct8<1>(expected);
  fdct_row(half[0], half[1], found);
  for (int k = 0; k < 8; ++k) ASSERT_EQ(found[k] - kFloatMagicBits, expected[k]) << k;
}

/// Every value of every two samples, between random ones; and all rows of black and white.
TEST(PackedFdct, RowsEqualTheDefinition) {
  Random random(1);
  for (int i = 0; i < 8; ++i)
    for (int j = i + 1; j < 8; ++j)
      for (int pair = 0; pair < 65536; ++pair) {
        std::uint8_t samples[8];
        for (std::uint8_t& sample : samples) sample = static_cast<std::uint8_t>(random.below(256));
        samples[i] = static_cast<std::uint8_t>(pair);
        samples[j] = static_cast<std::uint8_t>(pair >> 8);
        ASSERT_NO_FATAL_FAILURE(expect_same_row(samples));
      }
  for (int bits = 0; bits < 256; ++bits) {
    std::uint8_t samples[8];
    for (int i = 0; i < 8; ++i) samples[i] = (bits >> i & 1) != 0 ? 255 : 0;
    ASSERT_NO_FATAL_FAILURE(expect_same_row(samples));
  }
}

/// Four samples that are near the ends of the range, in any order.
TEST(PackedFdct, ClippedBytesAreFound) {
  constexpr std::uint8_t kValues[] = {0, 1, 2, 126, 127, 128, 129, 253, 254, 255};
  for (int i = 0; i < 10'000; ++i) {
    std::uint32_t word = 0, white = 0, black = 0, counts = 0;
    for (int j = 0, rest = i; j < 4; ++j, rest /= 10) {
      const std::uint32_t sample = kValues[rest % 10];
      word |= sample << (8 * j);
      white |= std::uint32_t{sample == 255} << (8 * j + 7);
      black |= std::uint32_t{sample == 0} << (8 * j + 7);
      counts +=
          (std::uint32_t{sample == 255} << kWhiteAt) + (std::uint32_t{sample == 0} << kBlackAt);
    }
    ASSERT_EQ(white_bytes(word), white) << word;
    ASSERT_EQ(black_bytes(word), black) << word;
    ASSERT_EQ(count_clipped(word), counts) << word;
  }
}

/// The counts of a block do not run into each other, whatever its share of white and of black.
TEST(PackedFdct, ClippedBytesOfABlockAddUp) {
  for (std::uint32_t white = 0; white <= 64; ++white)
    for (std::uint32_t black = 0; white + black <= 64; ++black) {
      std::uint32_t counts = 0;
      for (std::uint32_t first = 0; first < 64; first += 4) {
        std::uint32_t word = 0;
        for (std::uint32_t i = first; i < first + 4; ++i)
          word |= (i < white ? 255u : i < white + black ? 0u : 254u) << (8 * (i - first));
        counts += count_clipped(word);
        for (int i = 0; i < 32; i += 8) counts += word >> i & 0xFF;
      }
      const ClippedSamples found = clipped_samples(counts);
      ASSERT_EQ(found.sum, 255 * white + 254 * (64 - white - black));
      ASSERT_EQ(found.white, white);
      ASSERT_EQ(found.black, black);
    }
}

/// Rows of which any samples are clipped, moved as far as any block may want.
TEST(PackedFdct, MovedRowsEqualTheDefinition) {
  Random random(3);
  for (int round = 0; round < 300'000; ++round) {
    const int kinds = random.between(0, 255);  // one bit a sample: clipped or not
    const bool ends = random.below(4) == 0;
    const Overshoot overshoot = {
        ends ? kMostOvershoot : static_cast<std::uint32_t>(random.below(kMostOvershoot + 1)),
        ends ? kMostOvershoot : static_cast<std::uint32_t>(random.below(kMostOvershoot + 1))};
    std::uint32_t expected[8], found[8], half[2] = {};
    for (int i = 0; i < 8; ++i) {
      const auto sample = static_cast<std::uint32_t>((kinds >> i & 1) != 0 ? 255 * random.below(2)
                                                                           : random.below(256));
      expected[i] = static_cast<std::uint32_t>(overshoot.apply(sample) - 128);
      half[i / 4] |= sample << (8 * (i % 4));
    }
    fdct8<1>(expected);
    fdct_row(move_samples(half[0], overshoot), move_samples(half[1], overshoot), found);
    for (int k = 0; k < 8; ++k) ASSERT_EQ(found[k] - kFloatMagicBits, expected[k]) << k;
  }
}

/// Modulo 2^32 the equality holds for any numbers, and so for all results of the rows.
TEST(PackedFdct, ColumnsEqualTheDefinition) {
  Random random(2);
  for (int round = 0; round < 200'000; ++round) {
    const int bits = 1 + round % 31;
    std::uint32_t expected[8], found[8];
    for (int i = 0; i < 8; ++i) {
      expected[i] = static_cast<std::uint32_t>(random.below(1 << (bits < 31 ? bits : 30))) -
                    (std::uint32_t{1} << (bits - 1));
      found[i] = kFloatMagicBits + expected[i];
    }
    fdct8<2>(expected);
    fdct_column(found);
    for (int k = 0; k < 8; ++k) ASSERT_EQ(found[k] - kFloatMagicBits, expected[k]) << k;
  }
}

// The quantiser in single precision equals the integer one for every input that it can get. The
// largest is far below this: Quantise.CoefficientsFitTheDivisor.

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

}  // namespace
}  // namespace zerorun::test
