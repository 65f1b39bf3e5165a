// How scans are decoded on every compute capability, and with odd limits; and what a decoder
// remembers of the map strategy's failures, played to it as videos.
// SPDX-License-Identifier: MIT
#include "cuda/decode/scan_plan.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace zerorun {
namespace {

constexpr std::size_t kKib = 1024;

ScanPlan plan_map(const DeviceLimits& limits, const ScanNeeds& scan) {
  return plan_scan(limits, scan, Strategy::map);
}
ScanPlan plan_exhaustive(const DeviceLimits& limits, const ScanNeeds& scan) {
  return plan_scan(limits, scan, Strategy::exhaustive);
}

/// 3840x2160 at q90, 4:2:0: two pairs of tables, a period of six blocks.
constexpr ScanNeeds k4k{2400000, 194400, 66700, 2, 6};
constexpr ScanNeeds kGrey{400000, 32400, 11200, 1, 1};
/// Four components with three pairs of tables, and an MCU of ten blocks.
constexpr ScanNeeds kRich{2400000, 194400, 66700, 3, 10};

/// 4:2:0 with so many bits a block.
constexpr ScanNeeds of_bytes(std::uint32_t bytes, std::uint32_t block_bits) {
  return {bytes, bytes * 8 / block_bits, bytes / kSubsequenceBytes, 2, 6};
}

DeviceLimits with_shared(std::size_t kib) {
  DeviceLimits limits = limits_of_capability(90);
  limits.shared_of_cta = kib * kKib;
  return limits;
}

/// As many processors as an H100 has, so that scans get medium chunks too.
DeviceLimits with_processors(int capability) {
  DeviceLimits limits = limits_of_capability(capability);
  limits.processors = 132;
  return limits;
}

TEST(ScanPlan, OnHopperIsWhatWasMeasured) {
  const DeviceLimits hopper = with_processors(90);
  const ScanPlan plan = plan_scan(hopper, k4k, first_strategy(k4k));
  EXPECT_TRUE(plan.fits);
  EXPECT_EQ(plan.strategy, Strategy::map);
  EXPECT_EQ(plan.chunk_subsequences, kChunkSubsequences);
  EXPECT_EQ(plan.most_ends, 11u);
  EXPECT_EQ(plan.guess_stride, kGuessStride);
  EXPECT_TRUE(plan.collects);
  EXPECT_EQ(plan.decode_bytes, 41024u);
  EXPECT_EQ(resident_ctas(hopper, {384, 0, plan.sync_bytes}), 3u);
  EXPECT_EQ(plan_map(hopper, kRich).most_ends, kMostEnds);
  const ScanPlan last = plan_scan(hopper, k4k, Strategy::exhaustive);
  EXPECT_TRUE(last.fits);
  EXPECT_EQ(last.strategy, Strategy::exhaustive);
  EXPECT_EQ(last.mark_slots, kMarkSlots);
  EXPECT_FALSE(last.collects);
  EXPECT_EQ(resident_ctas(hopper, {384, 0, last.sync_bytes}), 3u);
}

TEST(ScanPlan, SmallSparseScansHaveMediumChunks) {
  DeviceLimits hopper = with_processors(90);
  struct Row {
    std::uint32_t bytes, block_bits, chunk, stride, ends;
    bool collects;
  };
  constexpr Row kRows[] = {{70000, 30, 160, 2, 11, true},   {12500, 2, 160, 2, 11, true},
                           {560000, 80, 160, 2, 11, true},  {580000, 80, 224, 4, 11, true},
                           {40000, 120, 224, 4, 16, false}, {700000, 120, 224, 4, 16, false},
                           {2400000, 100, 224, 4, 11, true}};
  for (const Row& row : kRows) {
    SCOPED_TRACE(testing::Message()
                 << row.bytes << " bytes, " << row.block_bits << " bits a block");
    const ScanPlan plan = plan_map(hopper, of_bytes(row.bytes, row.block_bits));
    EXPECT_EQ(plan.chunk_subsequences, row.chunk);
    EXPECT_EQ(plan.guess_stride, row.stride);
    EXPECT_EQ(plan.most_ends, row.ends);
    EXPECT_EQ(plan.collects, row.collects);
    EXPECT_EQ(plan.chunks, ceil_div(row.bytes / kSubsequenceBytes, row.chunk));
    EXPECT_EQ(resident_ctas(hopper, {384, 0, plan.sync_bytes}) >= 3, row.collects);
  }
  ScanNeeds scan = of_bytes(400000, 80);
  EXPECT_EQ(plan_map(hopper, scan).chunk_subsequences, kMediumChunk);
  scan.period = 10;
  EXPECT_EQ(plan_map(hopper, scan).chunk_subsequences, kChunkSubsequences) << "many guesses";
  EXPECT_FALSE(plan_map(hopper, scan).collects);
  scan.period = 6;
  hopper.processors = 20;
  EXPECT_EQ(plan_map(hopper, scan).chunk_subsequences, kChunkSubsequences)
      << "more than one for a processor";
  hopper.processors = 132;
  scan = of_bytes(1200000, 80);
  EXPECT_EQ(plan_map(hopper, scan).chunk_subsequences, kChunkSubsequences);
  scan.is_followed = true;
  EXPECT_EQ(plan_map(hopper, scan).chunk_subsequences, kMediumChunk);
}

TEST(ScanPlan, SparseScansAreDecodedByOneKernel) {
  const DeviceLimits hopper = with_processors(90);
  ScanNeeds scan = k4k;
  scan.bytes = scan.blocks / 8 * kSparseBits;
  EXPECT_TRUE(plan_map(hopper, scan).collects);
  EXPECT_EQ(plan_map(hopper, scan).most_ends, kSparseEnds);
  scan.bytes += scan.blocks / 8;
  EXPECT_FALSE(plan_map(hopper, scan).collects);
  EXPECT_EQ(plan_map(hopper, scan).most_ends, kMostEnds);
}

TEST(ScanPlan, DenseScansGoToTheExhaustiveStrategyAtOnce) {
  ScanNeeds scan = k4k;
  EXPECT_EQ(first_strategy(scan), Strategy::map);
  scan.bytes = scan.blocks / 8 * kDenseBits;
  EXPECT_EQ(first_strategy(scan), Strategy::map);
  scan.bytes += scan.blocks / 8;
  EXPECT_EQ(first_strategy(scan), Strategy::exhaustive);
  scan.standard_codes = true;
  EXPECT_EQ(first_strategy(scan), Strategy::map);
  scan.bytes = scan.blocks / 8 * (kDenseStandardBits + 1);
  EXPECT_EQ(first_strategy(scan), Strategy::exhaustive);
}

TEST(ScanPlan, TheExhaustiveStrategyNeedsMemoryForItsLists) {
  EXPECT_TRUE(has_seed_room(6));
  EXPECT_FALSE(has_seed_room(5));
  EXPECT_EQ(choose_mark_slots(kSparseEnds), kMarkSlots);
  EXPECT_EQ(choose_mark_slots(6), kMarkSlots / 2);
  EXPECT_EQ(choose_mark_slots(1), 0u);
  EXPECT_FALSE(plan_exhaustive(with_shared(61), k4k).fits);
  for (const int capability : kCapabilities)
    for (const ScanNeeds& scan : {k4k, kGrey})
      EXPECT_TRUE(plan_exhaustive(limits_of_capability(capability), scan).fits) << capability;
}

TEST(ScanPlan, TheLastAttemptMayWalkMoreSubsequencesSerially) {
  const DeviceLimits hopper = limits_of_capability(90);
  const ScanPlan map = plan_map(hopper, k4k), last = plan_exhaustive(hopper, k4k);
  EXPECT_EQ(map.most_serial_walks, kSerialWalks + kSerialWalksOfChunk * map.chunks);
  EXPECT_GT(last.most_serial_walks, 4 * map.most_serial_walks);
}

TEST(ScanPlan, EveryCapabilityDecodesUsualScans) {
  for (const int capability : kCapabilities) {
    const DeviceLimits limits = with_processors(capability);
    for (const ScanNeeds& scan : {k4k, kGrey, of_bytes(14000, 73)}) {
      const ScanPlan plan = plan_map(limits, scan);
      EXPECT_TRUE(plan.fits) << capability;
      EXPECT_GE(plan.most_ends, scan.period) << capability;
      EXPECT_GE(resident_ctas(limits, {kSyncThreads, 0, plan.sync_bytes}), 1u) << capability;
      EXPECT_GE(resident_ctas(limits, {plan.chunk_subsequences, 0, plan.decode_bytes}), 1u);
    }
  }
}

TEST(ScanPlan, RichScansTakeFewerEndsOrGoToTheCpu) {
  for (const int capability : kCapabilities) {
    const DeviceLimits limits = limits_of_capability(capability);
    const ScanPlan plan = plan_map(limits, kRich);
    EXPECT_EQ(plan.fits, capability != 75) << capability;
    EXPECT_EQ(plan.most_ends >= 13, plan.fits) << capability;
    EXPECT_LE(plan.sync_bytes, limits.shared_of_cta) << capability;
  }
}

TEST(ScanPlan, OddLimitsAreKept) {
  for (std::size_t kib = 1; kib <= 227; ++kib)
    for (const ScanNeeds& scan : {k4k, kGrey, kRich})
      for (const Strategy strategy : {Strategy::map, Strategy::exhaustive}) {
        const ScanPlan plan = plan_scan(with_shared(kib), scan, strategy);
        if (!plan.fits) continue;
        EXPECT_LE(std::max(plan.sync_bytes, plan.decode_bytes), kib * kKib);
        EXPECT_GE(plan.most_ends, strategy == Strategy::map ? scan.period : 1);
      }
  EXPECT_FALSE(plan_map(with_shared(16), kGrey).fits);
  EXPECT_TRUE(plan_map(with_shared(48), kGrey).fits);
  EXPECT_FALSE(plan_map(with_shared(48), k4k).fits);
  EXPECT_TRUE(plan_map(with_shared(64), k4k).fits);
}

/// What a scan does not need is not asked for.
TEST(ScanPlan, NoCtaAsksForMoreThanItsScanNeeds) {
  const DeviceLimits hopper = limits_of_capability(90);
  EXPECT_LT(plan_map(hopper, kGrey).sync_bytes, plan_map(hopper, k4k).sync_bytes);
  EXPECT_LT(plan_map(hopper, kGrey).decode_bytes, plan_map(hopper, k4k).decode_bytes);
}

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
