// How far clipped samples are moved, against a plain, slow form; and the ranges that this may
// reach.
// SPDX-License-Identifier: MIT
#include "codec/arith/tune.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "codec/arith/dct8.hpp"
#include "codec/pipeline/encode_setup.hpp"
#include "codec/syntax/quant_table.hpp"
#include "tests/support/random.hpp"

namespace zerorun::test {
namespace {

using Samples = std::array<int, kBlockSize>;

/// Moves the clipped samples of one end step by step, while the mean of the block stays in 0..255.
int slow_distance(const Samples& block, int end, int most) {
  const int step = end == 255 ? 1 : -1;
  Samples moved = block;
  for (int distance = 0;; ++distance) {
    int sum = 0, clipped = 0;
    for (int& sample : moved) {
      const bool is_clipped = step > 0 ? sample >= end : sample <= end;
      if (is_clipped) sample += step;
      clipped += is_clipped ? 1 : 0;
      sum += sample;
    }
    if (clipped == 0 || distance == most || sum < 0 || sum > 64 * 255) return distance;
  }
}

ClippedSamples count(const Samples& block) {
  ClippedSamples counts{};
  for (const int sample : block) {
    counts.sum += static_cast<std::uint32_t>(sample);
    counts.white += sample == 255 ? 1 : 0;
    counts.black += sample == 0 ? 1 : 0;
  }
  return counts;
}

/// Blocks with any share of white, of black and of samples in between.
Samples any_block(Random& random) {
  const int white = random.below(65), black = random.below(65 - white), low = random.below(256);
  const int high = random.between(low, 255);
  Samples block;
  for (int i = 0; i < kBlockSize; ++i)
    block[static_cast<std::size_t>(i)] = i < white           ? 255
                                         : i < white + black ? 0
                                                             : random.between(low, high);
  return block;
}

TEST(Overshoot, IsAsFarAsTheMeanAllows) {
  Random random(1);
  int moved = 0, limited = 0;
  for (int i = 0; i < 20'000; ++i) {
    const Samples block = any_block(random);
    const int most = random.between(0, int{kMostOvershoot});
    const ClippedSamples counts = count(block);
    const Overshoot found = overshoot_of(counts, static_cast<std::uint32_t>(most));
    const int above = slow_distance(block, 255, most), below = slow_distance(block, 0, most);
    ASSERT_EQ(static_cast<int>(found.above), above) << i;
    ASSERT_EQ(static_cast<int>(found.below), below) << i;
    int sum = 0;
    for (const int sample : block) {
      const int wanted = sample == 255 ? 255 + above : sample == 0 ? -below : sample;
      ASSERT_EQ(found.apply(static_cast<std::uint32_t>(sample)), wanted);
      sum += wanted;
    }
    ASSERT_EQ(static_cast<int>(found.sum_of(counts)), sum);
    ASSERT_GE(sum, 0);
    ASSERT_LE(sum, 64 * 255);
    ASSERT_EQ(found.any(), above + below > 0);
    moved += found.any();
    limited += (above > 0 && above < most) || (below > 0 && below < most);
  }
  EXPECT_GT(moved, 10'000);
  EXPECT_GT(limited, 1000);
}

TEST(Overshoot, OfTextAlone) {
  for (const Tune tune : kAllTunes)
    for (const QuantTables tables : kAllQuantTables)
      for (const int quality : {1, 10, 30, 50, 75, 90, 95, 100}) {
        EncodeParams params;
        params.tune = tune;
        params.tables = tables;
        const auto quant = named_quant_tables(resolve_tables(params), Subsampling::s444, quality);
        const TuneRules rules =
            make_tune_rules(params, false, quant, tune == Tune::exact ? 256 : 0);
        EXPECT_EQ(rules.overshoots, tune == Tune::text);
        for (std::size_t t = 0; t < 2; ++t) {
          int least = 255;
          for (const std::uint16_t q : quant[t]) least = std::min(least, int{q});
          EXPECT_EQ(rules.table[t].most_overshoot,
                    tune == Tune::text ? static_cast<unsigned>(std::min(31, 3 * least)) : 0u);
        }
      }
}

/// The largest magnitude of a coefficient of samples from `low` to `high`, level-shifted: each
/// sample has the sign of its weight. `widest`: also of the sums between the passes.
int largest_coefficient(int low, int high, int u, int v, int& widest) {
  const auto negative = [](int sample, int frequency) {
    const int phase = (2 * sample + 1) * frequency % 32;
    return phase > 8 && phase < 24;
  };
  int largest = 0;
  for (const bool reverse : {false, true}) {
    std::uint32_t work[8][8], column[8];
    for (int y = 0; y < 8; ++y) {
      for (int x = 0; x < 8; ++x)
        work[y][x] =
            static_cast<std::uint32_t>((negative(x, u) != negative(y, v)) != reverse ? low : high);
      fdct8<1>(work[y]);
      for (const std::uint32_t value : work[y])
        widest = std::max(widest, std::abs(static_cast<std::int32_t>(value)));
    }
    for (int y = 0; y < 8; ++y) column[y] = work[y][u];
    fdct8<2>(column);
    largest = std::max(largest, std::abs(static_cast<std::int32_t>(column[v])));
  }
  return largest;
}

/// What the quantisers and the 16-bit forms of the transform are proved for: |x| < 2^14, and four
/// results of the first pass add up to less than 2^15. AC coefficients leave their 1023 steps
/// (T.81 Table F.2) at no other frequencies than without overshoot.
TEST(Overshoot, RangesHold) {
  for (int q = 1; q <= 255; ++q) {
    const auto most = static_cast<int>(most_overshoot(static_cast<std::uint32_t>(q)));
    ASSERT_LE(most, int{kMostOvershoot});
    ASSERT_LT(kMostOvershoot, 128u);  // a signed byte
    for (int u = 0; u < 8; ++u)
      for (int v = 0; v < 8; ++v) {
        if (u + v == 0) continue;  // DC: Overshoot.IsAsFarAsTheMeanAllows
        int widest = 0;
        const int largest = largest_coefficient(-128 - most, 127 + most, u, v, widest);
        ASSERT_LT(largest + 64, 1 << 14);  // roundings move a coefficient by far less than 64
        ASSERT_LT(4 * (widest + 4), 1 << 15);
        if (u % 4 != 0 || v % 4 != 0) {
          const auto magnitude = static_cast<std::uint32_t>(largest + 64);
          const auto step = static_cast<std::uint32_t>(q);
          ASSERT_LT(fine_magnitude(magnitude, step, fine_reciprocal(step)), kMostFine) << q;
        }
      }
  }
}

}  // namespace
}  // namespace zerorun::test
