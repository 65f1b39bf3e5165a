// What a decoder remembers of the map strategy's failures, played to it as videos.
// SPDX-License-Identifier: MIT
#include "cuda/decode/scan_plan.hpp"

#include <gtest/gtest.h>

namespace zerorun {
namespace {

constexpr StrategyMemory::Shape kOdd{1000, 80000};

/// How many of the next scans of a shape skip the map strategy, up to `most`.
std::uint32_t skipped(StrategyMemory& memory, const StrategyMemory::Shape& scan,
                      std::uint32_t most = 1000) {
  std::uint32_t count = 0;
  while (count < most && memory.skips_map(scan)) ++count;
  return count;
}

TEST(StrategyMemory, KnowsNothingAtFirst) {
  StrategyMemory memory;
  EXPECT_FALSE(memory.skips_map(kOdd));
  EXPECT_FALSE(memory.skips_map({0, 0}));
  memory.map_was_tried(kOdd, false);
  EXPECT_FALSE(memory.skips_map(kOdd));
}

TEST(StrategyMemory, TriesTheMapStrategyAgainAfterSomeScans) {
  StrategyMemory memory;
  for (int turn = 0; turn < 3; ++turn) {
    memory.map_was_tried(kOdd, true);
    EXPECT_EQ(skipped(memory, kOdd), kStrategyTrust) << "turn " << turn;
  }
  memory.map_was_tried(kOdd, true);
  ASSERT_TRUE(memory.skips_map(kOdd));
  memory.map_was_tried(kOdd, false);
  EXPECT_FALSE(memory.skips_map(kOdd)) << "the map strategy has decoded such a scan";
}

TEST(StrategyMemory, ScansAreAlikeWithinASixteenthOfTheirBytes) {
  StrategyMemory memory;
  memory.map_was_tried(kOdd, true);
  EXPECT_TRUE(memory.skips_map({1000, 85000}));
  EXPECT_TRUE(memory.skips_map({1000, 75000}));
  EXPECT_FALSE(memory.skips_map({1000, 85001}));
  EXPECT_FALSE(memory.skips_map({1000, 74999}));
  EXPECT_FALSE(memory.skips_map({1001, 80000}));
}

TEST(StrategyMemory, KnowsTheLastShapeThatFailed) {
  StrategyMemory memory;
  memory.map_was_tried(kOdd, true);
  memory.map_was_tried({2000, 80000}, false);
  EXPECT_TRUE(memory.skips_map(kOdd)) << "a scan of another shape was decoded by maps";
  memory.map_was_tried({2000, 80000}, true);
  EXPECT_TRUE(memory.skips_map({2000, 80000}));
  EXPECT_FALSE(memory.skips_map(kOdd));
}

}  // namespace
}  // namespace zerorun
