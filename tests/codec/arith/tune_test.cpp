// Decisions about coefficients against a plain, slow form of each.
// SPDX-License-Identifier: MIT
#include "codec/arith/tune.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <vector>

#include "codec/arith/dct8.hpp"
#include "codec/pipeline/encode_pipeline.hpp"
#include "codec/syntax/tables.hpp"
#include "tests/support/random.hpp"

namespace zerorun::test {
namespace {

TuneRules rules_of(Tune tune, Effort effort, int quality) {
  EncodeParams params;
  params.tune = tune;
  params.effort = effort;
  return make_tune_rules(params, true,
                         named_quant_tables(resolve_tables(params), Subsampling::s420, quality));
}

/// Bits of each AC symbol by T.81 C.2, from the lengths of the codes that were trained for quality
/// 90 of texts and up to 60 of others; those of chroma times 11/16 in photos and 13/16 in texts.
std::vector<int> symbol_bits(int table, Tune tune) {
  const int quality = tune == Tune::text ? 90 : 60;
  const HuffmanSpec& spec =
      trained_huffman_specs(tune, true, 16 * quality)[static_cast<std::size_t>(2 + table)];
  std::vector<int> bits(256, 16);
  std::size_t at = 0;
  for (std::size_t length = 1; length <= 16; ++length)
    for (int i = 0; i < spec.bits[length]; ++i) bits[spec.values[at++]] = static_cast<int>(length);
  for (std::size_t symbol = 0; symbol < 256; ++symbol)
    bits[symbol] += static_cast<int>(symbol % 16);
  if (table == 1 && tune != Tune::psnr)
    for (int& n : bits)
      n = static_cast<int>(std::floor(n * (tune == Tune::photo ? 0.6875 : 0.8125) + 0.5));
  return bits;
}

TEST(TuneRules, WeightsAndMaskingHaveLimits) {
  for (const Tune tune : {Tune::photo, Tune::text, Tune::psnr})
    for (const Effort effort : kAllEfforts)
      for (const bool is_420 : {false, true}) {
        EncodeParams params;
        params.tune = tune;
        params.effort = effort;
        const TuneRules rules = make_tune_rules(
            params, is_420, named_quant_tables(QuantTables::flat, Subsampling::s420, 50));
        EXPECT_LE(rules.weight, kMostWeight);
        EXPECT_LE(rules.masking.energy + (rules.masking.least << 20) / 32, kMostMasking);
      }
}

/// GPU encoders keep the rules that they have sent if those of the next frame are equal. Tables are
/// compared as bytes.
TEST(TuneRules, EveryMemberOfATableIsCompared) {
  const TuneRules rules = rules_of(Tune::text, Effort::best, 80);
  using Change = void (*)(TuneRules&);
  for (const Change change : {
           Change([](TuneRules& r) { ++r.table[0].reciprocal[63]; }),
           Change([](TuneRules& r) { ++r.table[0].step[0]; }),
           Change([](TuneRules& r) { ++r.table[1].least[63]; }),
           Change([](TuneRules& r) { ++r.table[1].bits[255]; }),
           Change([](TuneRules& r) { ++r.table[1].most_overshoot; }),
       }) {
    TuneRules other = rules;
    EXPECT_TRUE(other == rules);
    change(other);
    EXPECT_FALSE(other == rules);
  }
}

int size_of(int level) {
  int size = 0;
  for (; level != 0; level /= 2) ++size;
  return size;
}

/// Bits of the AC coefficients of a whole block (T.81 Figure F.2).
int block_bits(const std::vector<int>& levels, const std::vector<int>& bits) {
  int sum = 0, run = 0;
  for (std::size_t k = 1; k < 64; ++k) {
    if (levels[k] == 0) {
      ++run;
      continue;
    }
    for (; run > 15; run -= 16) sum += bits[0xF0];
    sum += bits[static_cast<std::size_t>(16 * run + size_of(levels[k]))];
    run = 0;
  }
  return run > 0 ? sum + bits[0] : sum;
}

/// The list of magnitudes in steps, of a block with `nonzero` of 64 coefficients on average.
std::vector<int> any_block(Random& random, int nonzero, std::vector<std::int16_t>& raw,
                           const TuneTable& table) {
  std::vector<int> fine(64, 0);
  raw.assign(64, 0);
  for (std::size_t k = 1; k < 64; ++k) {
    const int q = table.step[k];
    const int most = random.below(64) < nonzero ? 8 * q * 3 : 4 * q;
    const int magnitude = random.between(0, std::min(most, 8191));
    raw[k] = static_cast<std::int16_t>(random.below(2) == 0 ? magnitude : -magnitude);
    fine[k] = std::min((8 * magnitude + q) / (2 * q), int{kMostFine});
  }
  return fine;
}

/// What the block saves in bits and loses in squared error, in 2^-13 bits as gain_of() counts.
std::int64_t cost(const std::vector<int>& fine, const std::vector<int>& levels,
                  const std::vector<int>& bits, std::int64_t weight) {
  std::int64_t squares = 0;  // 32nds of a squared step, against all zeros
  for (std::size_t k = 1; k < 64; ++k)
    squares += std::int64_t{levels[k]} * (2 * fine[k] - 32 * levels[k]);
  return std::int64_t{block_bits(levels, bits)} * 8192 - squares * weight;
}

std::vector<int> rounded(const std::vector<int>& fine) {
  std::vector<int> levels(64, 0);
  for (std::size_t k = 1; k < 64; ++k) levels[k] = (fine[k] + 16) / 32;
  return levels;
}

/// Each decision changes one coefficient of the rounded block and codes both blocks.
std::vector<int> slow_by_rate(const std::vector<int>& fine, const std::vector<int>& bits,
                              std::int64_t weight) {
  const std::vector<int> start = rounded(fine);
  std::vector<int> levels = start;
  for (std::size_t k = 1; k < 64; ++k) {
    if (start[k] == 0) continue;
    std::vector<int> other = start;
    --other[k];
    if (block_bits(start, bits) > block_bits(other, bits) &&
        cost(fine, other, bits, weight) < cost(fine, start, bits, weight))
      --levels[k];
  }
  // The first of the best ends.
  std::vector<int> best(64, 0), now(64, 0);
  for (std::size_t k = 1; k < 64; ++k) {
    if (levels[k] == 0) continue;
    now[k] = levels[k];
    if (cost(fine, now, bits, weight) < cost(fine, best, bits, weight)) best = now;
  }
  return best;
}

std::vector<int> tuned(std::vector<std::int16_t> raw, const TuneRules& rules, int table,
                       std::uint32_t energy) {
  RawBlock block(raw.data(), 1, rules.table[table]);
  block.clear_all_but(tune_block(block, block.candidates(), rules, rules.table[table], energy));
  return {raw.begin(), raw.end()};
}

TEST(Tune, FineMagnitudeIsTheRoundedQuotient) {
  for (std::uint32_t q = 1; q <= 255; ++q) {
    std::uint32_t least = 0;
    for (std::uint32_t magnitude = 0; magnitude < 1 << 14; ++magnitude) {
      const std::uint32_t fine = fine_magnitude(magnitude, q, fine_reciprocal(q));
      ASSERT_EQ(fine, std::min((8 * magnitude + q) / (2 * q), kMostFine)) << magnitude << " " << q;
      if (fine < kFineHalf) least = magnitude + 1;
    }
    ASSERT_EQ(least_magnitude(q), least) << q;
  }
}

TEST(Tune, EnergyIsThatOfTheSamplesWithoutTheirMean) {
  Random random(1);
  for (int i = 0; i < 1000; ++i) {
    const int spread = random.between(0, 255), low = random.between(0, 255 - spread);
    std::uint32_t sum = 0, squares = 0;
    std::vector<double> samples;
    for (int s = 0; s < 64; ++s) {
      const auto sample = static_cast<std::uint32_t>(random.between(low, low + spread));
      samples.push_back(sample);
      sum += sample;
      squares += sample * sample;
    }
    double energy = 0;
    for (const double sample : samples) energy += std::pow(sample - sum / 64.0, 2);
    ASSERT_NEAR(ac_energy(sum, squares), std::floor(energy + 1e-6), 0.0);
  }
}

/// What errors are worth, at all energies: texture hides more of them in photos than in texts, but
/// up to a limit.
TEST(Tune, TextureHidesErrorsByTheFormula) {
  for (const Tune tune : {Tune::photo, Tune::text, Tune::psnr})
    for (const Effort effort : kAllEfforts) {
      const TuneRules rules = rules_of(tune, effort, 80);
      const bool is_photo = tune == Tune::photo;
      const double half = is_photo ? 8192 : 92682;
      const double least = !is_photo ? 0 : effort == Effort::best ? 5 / 32.0 : 7 / 32.0;
      std::uint32_t before = rules.weight;
      for (std::uint32_t energy = 0; energy <= 1 << 20; energy += energy / 50 + 1) {
        const double masked =
            tune == Tune::psnr ? 1 : (half + std::floor(energy * least)) / (half + energy);
        const std::uint32_t found = error_weight(rules, energy_and_turn(energy, 200));
        ASSERT_EQ(found, std::floor(rules.weight * masked + 1e-9)) << name(tune) << " " << energy;
        ASSERT_LE(found, before + 1);  // rounding
        ASSERT_GE(found, std::floor(rules.weight * least));
        before = found;
      }
    }
}

TEST(Tune, MostWeightDoesNotOverflow) {
  TuneRules rules{};
  rules.weight = kMostWeight;
  rules.masked = true;
  for (const std::uint32_t least : {0u, 1u, 7u}) {
    rules.masking = {kMostMasking - (least << 20) / 32, least};
    for (const std::uint32_t energy : {0u, 1u << 19, 1u << 20}) {
      const std::uint64_t masked = rules.masking.energy + (energy * least >> 5);
      EXPECT_EQ(error_weight(rules, energy),
                kMostWeight * masked / (rules.masking.energy + energy));
    }
  }
}

TEST(Tune, DeadZoneIsTheFormula) {
  Random random(2);
  for (const Tune tune : {Tune::text, Tune::psnr})
    for (int i = 0; i < 400; ++i) {
      const TuneRules rules = rules_of(tune, Effort::fast, random.between(1, 100));
      const auto energy = static_cast<std::uint32_t>(random.below(1 << 20));
      const int table = random.between(0, 1);
      std::vector<std::int16_t> raw;
      const std::vector<int> fine = any_block(random, 20, raw, rules.table[table]);
      const double masked = rules.masked ? 92682.0 / (92682.0 + energy) : 1.0;
      const double weight = std::floor(rules.weight * masked + 1e-9) / 256;
      const std::vector<int> found = tuned(raw, rules, table, energy);
      for (std::size_t k = 1; k < 64; ++k) {
        const double steps = fine[k] / 32.0,
                     end = 0.5 + (1 + 0.05 * static_cast<double>(k)) / weight;
        const bool zero = fine[k] < 16 || (steps < 1 && steps < end - 1e-12);
        const int wanted = zero ? 0 : (fine[k] + 16) / 32;
        ASSERT_EQ(found[k], raw[k] < 0 ? -wanted : wanted) << k << " " << steps << " " << end;
      }
    }
}

/// Photos in one pass: what is only likely to be worth its bits needs company.
TEST(Tune, PhotosDropOnesThatAreFarFromOthers) {
  Random random(4);
  for (int i = 0; i < 2000; ++i) {
    const TuneRules rules = rules_of(Tune::photo, Effort::fast, random.between(1, 100));
    const auto energy = static_cast<std::uint32_t>(random.below(1 << 20));
    const int table = random.between(0, 1);
    std::vector<std::int16_t> raw;
    const std::vector<int> fine = any_block(random, random.between(0, 60), raw, rules.table[table]);
    const double weight = error_weight(rules, energy) / 256.0;
    const auto reaches = [&](int k, double end) {
      return k > 0 && k < 64 &&
             fine[static_cast<std::size_t>(k)] / 32.0 >= 0.5 + end / weight - 1e-12;
    };
    const auto is_likely = [&](int k) { return reaches(k, 0.6); };
    int last_sure = 0;
    for (int k = 1; k < 64; ++k)
      if (reaches(k, 1 + 0.05 * k)) last_sure = k;
    const std::vector<int> found = tuned(raw, rules, table, energy);
    for (int k = 1; k < 64; ++k) {
      const bool in_company =
          is_likely(k - 2) || is_likely(k - 1) || is_likely(k + 1) || is_likely(k + 2);
      const bool kept =
          reaches(k, 1 + 0.05 * k) || (is_likely(k) && in_company && k <= last_sure + 1);
      const auto at = static_cast<std::size_t>(k);
      const int wanted = kept ? (fine[at] + 16) / 32 : 0;
      ASSERT_EQ(found[at], raw[at] < 0 ? -wanted : wanted) << "block " << i << " at " << k;
    }
  }
}

TEST(Tune, RateDecisionsAreThoseOfCodingTheBlock) {
  Random random(3);
  for (const Tune tune : {Tune::photo, Tune::text, Tune::psnr})
    for (int i = 0; i < 600; ++i) {
      const TuneRules rules = rules_of(tune, Effort::best, random.between(1, 100));
      const auto energy = static_cast<std::uint32_t>(random.below(1 << 20));
      const int table = random.between(0, 1);
      std::vector<std::int16_t> raw;
      const std::vector<int> fine =
          any_block(random, random.between(0, 60), raw, rules.table[table]);
      const std::int64_t weight = error_weight(rules, energy);
      const std::vector<int> wanted = slow_by_rate(fine, symbol_bits(table, tune), weight);
      const std::vector<int> found = tuned(raw, rules, table, energy);
      for (std::size_t k = 1; k < 64; ++k)
        ASSERT_EQ(found[k], raw[k] < 0 ? -wanted[k] : wanted[k]) << "block " << i << " at " << k;
    }
}

TEST(Tune, LargestCoefficientsDoNotOverflow) {
  TuneRules rules = rules_of(Tune::photo, Effort::best, 100);
  rules.weight = kMostWeight;
  rules.masked = false;
  std::vector<std::int16_t> raw(64, -8191);
  const std::vector<int> found = tuned(raw, rules, 0, 0);
  for (std::size_t k = 1; k < 64; ++k) EXPECT_EQ(found[k], -1023) << k;
}

TEST(Tune, NamedTablesHaveLegalEntriesThatFallWithQuality) {
  for (const QuantTables tables :
       {QuantTables::annex_k, QuantTables::flat, QuantTables::ffmpeg, QuantTables::tuned})
    for (const Subsampling sampling : {Subsampling::s420, Subsampling::s444}) {
      auto before = named_quant_tables(tables, sampling, 1);
      for (int quality = 1; quality <= 100; ++quality) {
        const auto now = named_quant_tables(tables, sampling, quality);
        for (std::size_t t = 0; t < 2; ++t)
          for (std::size_t i = 0; i < 64; ++i) {
            ASSERT_GE(now[t][i], 1) << name(tables) << " " << quality;
            ASSERT_LE(now[t][i], before[t][i]) << name(tables) << " " << quality;
          }
        before = now;
      }
    }
}

// How far clipped samples are moved, and the ranges that this may reach.

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
Samples any_clipped_block(Random& random) {
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
    const Samples block = any_clipped_block(random);
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
