// What transform_blocks() is told about the quantisation tables.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>

#include "cuda/decode/scan_kernels.hpp"

namespace zerorun::test {
namespace {

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

TEST(ScanSteps, AStepHasTheEntryAndThePlace) {
  for (std::uint32_t natural = 0; natural < kBlockSize; ++natural)
    for (const std::int32_t q : {0, 1, 255, 32767, -32768, -1}) {
      const std::uint32_t step = make_scan_step(static_cast<std::uint16_t>(q), natural);
      EXPECT_EQ(quantiser_of(step), q);
      EXPECT_EQ(place_of(step), natural / 8 * kCoefficientRowBytes + natural % 8 * 2);
    }
}

}  // namespace
}  // namespace zerorun::test
