// Tables of the GPU decoder: their order in an MCU against its definition, and what
// transform_blocks() is told about the quantisation tables.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>

#include "cuda/decode/scan_kernels.hpp"
#include "tests/cuda/decode/host_subsequences.hpp"

namespace zerorun::test {
namespace {

ScanLayout random_layout(Random& random) {
  ComponentSpec specs[kMaxComponents];
  const int components = random.between(1, kMaxComponents);
  for (;;) {
    int blocks = 0;
    for (int c = 0; c < components; ++c) {
      specs[c] = {random.between(1, 4), random.between(1, 4),
                  static_cast<std::uint8_t>(random.below(2)),
                  static_cast<std::uint8_t>(random.below(2))};
      blocks += specs[c].h * specs[c].v;
    }
    if (blocks <= kMaxBlocksPerMcu) break;
  }
  const int all[] = {0, 1, 2};
  return make_scan_layout(100, 100, specs, components, all, components, 0);
}

TEST(PairCycle, IsTheShortestOrderOfTables) {
  Random random(4);
  for (int turn = 0; turn < 1000; ++turn) {
    const ScanLayout layout = random_layout(random);
    const PairCycle cycle = make_pair_cycle(layout);
    const auto tables_of = [&](std::int32_t block) {
      const auto& component = layout.component[layout.block_component[block]];
      return std::pair(component.dc_table, component.ac_table);
    };
    const auto repeats = [&](std::int32_t period) {
      for (std::int32_t i = 0; i < 2 * layout.blocks_per_mcu; ++i)
        if (tables_of(i % layout.blocks_per_mcu) != tables_of((i + period) % layout.blocks_per_mcu))
          return false;
      return true;
    };
    ASSERT_TRUE(repeats(cycle.period));
    for (std::int32_t shorter = 1; shorter < cycle.period; ++shorter)
      ASSERT_FALSE(layout.blocks_per_mcu % shorter == 0 && repeats(shorter));
    for (std::int32_t i = 0; i < layout.blocks_per_mcu; ++i) {
      const std::int32_t pair = cycle.pair[i % cycle.period];
      ASSERT_LT(pair, cycle.pairs);
      ASSERT_EQ(std::pair(cycle.dc_table[pair], cycle.ac_table[pair]), tables_of(i));
    }
  }
}

/// All entries are 1 but one.
ScanSteps make_steps(std::uint32_t q, std::size_t component, std::size_t k) {
  ScanSteps steps{};
  for (auto& table : steps.step)
    for (std::uint32_t i = 0; i < kBlockSize; ++i) table[i] = make_scan_step(1, i);
  steps.step[component][k] = make_scan_step(static_cast<std::uint16_t>(q), 5);
  find_usual_pairs(steps);
  return steps;
}

bool is_usual(const ScanSteps& steps, std::uint16_t pair) {
  const auto value = static_cast<std::int16_t>(pair);
  return value >= static_cast<std::int16_t>(steps.lowest_usual) &&
         value <= static_cast<std::int16_t>(steps.highest_usual);
}

TEST(ScanSteps, UsualPairsAreThoseThatNoEntryMakesTooLarge) {
  for (std::uint32_t q = 0; q < 65536; q += q < 1000 || (q > 32000 && q < 33000) ? 1 : 37) {
    const ScanSteps steps = make_steps(q, q % kMaxComponents, 1 + q % (kBlockSize - 1));
    ASSERT_EQ(steps.lowest_usual >> 16, steps.lowest_usual & 0xFFFF);
    ASSERT_EQ(steps.highest_usual >> 16, steps.highest_usual & 0xFFFF);
    const std::int32_t quantiser =
        q < 32768 ? static_cast<std::int32_t>(q) : static_cast<std::int32_t>(q) - 65536;
    for (std::int32_t level = kWideLevel; level < -kWideLevel; ++level)
      for (const std::uint32_t index : {0u, 1u, 63u})
        ASSERT_EQ(is_usual(steps, pack_pair(index, level)),
                  level != kWideLevel && std::abs(level * quantiser) <= kMaxNarrowCoefficient)
            << level << " " << quantiser;
  }
}

TEST(ScanSteps, TheDcDoesNotCount) {
  EXPECT_TRUE(is_usual(make_steps(65535, 1, 0), pack_pair(63, 511)));
  EXPECT_TRUE(is_usual(make_steps(32767, 1, 0), pack_pair(0, -511)));
}

}  // namespace
}  // namespace zerorun::test
