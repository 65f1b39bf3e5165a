// The CPU stage against the definitions of codec/arith, block by block.
// SPDX-License-Identifier: MIT
#include "codec/encode/fdct_quant.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "codec/arith/dct8.hpp"
#include "codec/pipeline/stage_table.hpp"
#include "tests/support/extreme_block.hpp"
#include "tests/support/random.hpp"

namespace zerorun::test {
namespace {

using Samples = BlockSamples;
using Block = std::array<std::int16_t, kBlockSize>;  // zig-zag order

/// Samples to eight times the coefficients (T.81 A.3.1, A.3.3), natural order.
template <typename AnySamples>
std::array<std::int32_t, kBlockSize> transform(const AnySamples& samples) {
  std::uint32_t work[8][8];
  for (int y = 0; y < 8; ++y) {
    for (int x = 0; x < 8; ++x)
      work[y][x] = static_cast<std::uint32_t>(samples[static_cast<std::size_t>(8 * y + x)] - 128);
    fdct8<1>(work[y]);
  }
  std::array<std::int32_t, kBlockSize> out;
  for (int x = 0; x < 8; ++x) {
    std::uint32_t column[8];
    for (int y = 0; y < 8; ++y) column[y] = work[y][x];
    fdct8<2>(column);
    for (int y = 0; y < 8; ++y)
      out[static_cast<std::size_t>(8 * y + x)] = static_cast<std::int32_t>(column[y]);
  }
  return out;
}

Block by_definition(const Samples& samples, const DivisorTables& divisors) {
  const auto coefficients = transform(samples);
  Block zz;
  for (std::size_t k = 0; k < kBlockSize; ++k) {
    const std::size_t at = kNaturalOfZigzag[k];
    zz[k] = static_cast<std::int16_t>(quantise(coefficients[at], divisors.table[0][at]));
  }
  return zz;
}

Block by_stage(const Samples& samples, const DivisorTables& divisors,
               const TuneRules* rules = nullptr) {
  const ComponentSpec spec{};
  const int only = 0;
  Block zz{};
  FdctQuantArgs args{
      make_scan_layout(8, 8, &spec, 1, &only, 1, 0), {}, &divisors, 0, 1, zz.data(), rules};
  args.plane[0] = {samples.data(), 8, 8, 8};
  Exec exec;
  EXPECT_TRUE(cpu_stages().fdct_quant(args, exec));
  return zz;
}

/// All divisors `q`.
DivisorTables flat_table(std::uint32_t q) {
  DivisorTables tables;
  for (auto& table : tables.table)
    for (auto& divisor : table) divisor = make_divisor(q);
  return tables;
}

/// Blocks that reach the ends of the ranges show that no value is mixed up or narrowed. Test of the
/// other instruction sets: FastTransform.ForwardEqualsTheReference.
TEST(FdctQuant, StageIsTheDefinition) {
  std::vector<Samples> blocks;
  for (std::size_t at = 0; at < kBlockSize; ++at)
    for (const bool reverse : {false, true}) blocks.push_back(extreme(at, reverse));
  for (std::size_t at = 0; at < kBlockSize; ++at) {  // one sample alone
    blocks.emplace_back().fill(0);
    blocks.back()[at] = 255;
  }
  Random random(7);
  for (int round = 0; round < 2000; ++round) {
    auto& block = blocks.emplace_back();
    const bool two_values = round % 2 == 0;
    for (auto& sample : block)
      sample = static_cast<std::uint8_t>(two_values ? 255 * random.below(2) : random.below(256));
  }
  for (const std::uint32_t q : {1u, 2u, 3u, 16u, 99u, 254u, 255u}) {
    const DivisorTables divisors = flat_table(q);
    for (const Samples& block : blocks)
      ASSERT_EQ(by_stage(block, divisors), by_definition(block, divisors)) << "divisor " << q;
  }
}

/// Rules for steps `q` that set only magnitudes of exactly half a step (16 of 32) to zero.
TuneRules text_rules(std::uint32_t q) {
  TuneRules rules{};
  rules.weight = rules.thrifty_weight = 1 << 20;
  rules.overshoots = true;
  for (TuneTable& table : rules.table) {
    for (int k = 0; k < kBlockSize; ++k) set_step(table, k, q);
    set_least_step(table, true, q);
  }
  return rules;
}

/// Samples of 255 and 0 are moved up to three steps, as long as the mean stays in the range; then
/// all coefficients are rounded, DC half away from zero and AC in 32nds of a step.
Block of_text(const Samples& samples, int q) {
  int sum = 0, white = 0, black = 0;
  for (const int sample : samples) {
    sum += sample;
    white += sample == 255;
    black += sample == 0;
  }
  const int most = std::min(3 * q, 31);
  std::array<int, kBlockSize> moved;
  for (std::size_t i = 0; i < kBlockSize; ++i)
    moved[i] = samples[i] == 255 ? 255 + std::min(most, (64 * 255 - sum) / white)
               : samples[i] == 0 ? -std::min(most, sum / black)
                                 : samples[i];
  const auto coefficients = transform(moved);
  Block zz;
  for (std::size_t k = 0; k < kBlockSize; ++k) {
    const int x = coefficients[kNaturalOfZigzag[k]], magnitude = std::abs(x);
    const int fine = (8 * magnitude + q) / (2 * q);
    const int level =
        k == 0 ? (magnitude + 4 * q) / (8 * q) : std::min(fine == 16 ? 0 : (fine + 16) / 32, 1023);
    zz[k] = static_cast<std::int16_t>(x < 0 ? -level : level);
  }
  return zz;
}

TEST(FdctQuant, ClippedSamplesOfTextAreMoved) {
  std::vector<Samples> blocks;
  for (std::size_t at = 0; at < kBlockSize; ++at)
    for (const bool reverse : {false, true}) blocks.push_back(extreme(at, reverse));
  Random random(8);
  for (int round = 0; round < 2000; ++round) {
    auto& block = blocks.emplace_back();
    const int white = random.below(101), black = random.below(101 - white);
    const bool nearly_clipped = round % 2 == 0;  // the others are 1 and 254
    for (auto& sample : block) {
      const int turn = random.below(100);
      const int other = nearly_clipped ? 1 + 253 * random.below(2) : random.below(256);
      sample = static_cast<std::uint8_t>(turn < white ? 255 : turn < white + black ? 0 : other);
    }
  }
  for (const int q : {1, 2, 3, 9, 10, 11, 99, 255}) {
    const DivisorTables divisors = flat_table(static_cast<std::uint32_t>(q));
    const TuneRules rules = text_rules(static_cast<std::uint32_t>(q));
    for (const Samples& block : blocks)
      ASSERT_EQ(by_stage(block, divisors, &rules), of_text(block, q)) << "step " << q;
  }
}

/// Each coefficient takes the divisor of its own place.
TEST(FdctQuant, DivisorsByPlace) {
  DivisorTables divisors;
  for (std::size_t i = 0; i < kBlockSize; ++i)
    divisors.table[0][i] = divisors.table[1][i] =
        make_divisor(static_cast<std::uint32_t>(1 + 3 * i));
  for (std::size_t at = 0; at < kBlockSize; ++at) {
    const Samples block = extreme(at, false);
    ASSERT_EQ(by_stage(block, divisors), by_definition(block, divisors)) << at;
  }
}

/// Range that Divisor is proved for: |x| + 4 q < 2^15.
TEST(FdctQuant, CoefficientsFitTheDivisor) {
  std::int32_t largest = 0;
  for (std::size_t at = 0; at < kBlockSize; ++at)
    for (const bool reverse : {false, true})
      largest = std::max(largest, std::abs(transform(extreme(at, reverse))[at]));
  EXPECT_LE(largest, 16384);  // what the test of quantise() goes up to
  EXPECT_LT(largest + 4 * 255, 1 << 15);
}

}  // namespace
}  // namespace zerorun::test
