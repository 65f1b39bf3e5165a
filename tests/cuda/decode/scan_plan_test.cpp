// How scans are decoded on every compute capability, and with odd limits.
// SPDX-License-Identifier: MIT
#include "cuda/decode/scan_plan.hpp"

#include <utility>

#include <gtest/gtest.h>

namespace zerorun {
namespace {

constexpr std::size_t kKib = 1024;

/// 3840x2160 at q90, 4:2:0: two pairs of tables, a period of six blocks.
constexpr ScanNeeds k4k{2400000, 194400, 1, 66700, 2, 6};
constexpr ScanNeeds kGrey{400000, 32400, 1, 11200, 1, 1};
/// Four components with three pairs of tables, and an MCU of ten blocks.
constexpr ScanNeeds kRich{2400000, 194400, 1, 66700, 3, 10};
/// 256x256 at q90: few chunks, so all ends are kept.
constexpr ScanNeeds kSmall{14000, 1536, 1, 400, 2, 6};

DeviceLimits with_shared(std::size_t kib) {
  DeviceLimits limits = limits_of_capability(90);
  limits.shared_of_cta = kib * kKib;
  return limits;
}

/// As many processors as an H100 has, so that scans get small chunks too.
DeviceLimits with_processors(int capability) {
  DeviceLimits limits = limits_of_capability(capability);
  limits.processors = 132;
  return limits;
}

TEST(ScanPlan, OnHopperIsWhatWasMeasured) {
  const DeviceLimits hopper = with_processors(90);
  const SubsequencePlan plan = plan_subsequences(hopper, k4k);
  EXPECT_TRUE(plan.fits);
  EXPECT_EQ(plan.most_ends, 11u);
  EXPECT_EQ(plan.guess_stride, kGuessStride);
  EXPECT_TRUE(plan.collects);
  EXPECT_FALSE(plan.offers_early);
  EXPECT_EQ(plan.sync_bytes, 75760u);
  EXPECT_EQ(plan.decode_bytes, 41792u);
  EXPECT_EQ(resident_ctas(hopper, {384, 0, plan.sync_bytes}), 3u);
  EXPECT_EQ(plan_subsequences(hopper, kSmall).most_ends, kMostEnds);
  EXPECT_EQ(plan_subsequences(hopper, kRich).most_ends, kMostEnds);
  EXPECT_EQ(plan_subsequences(hopper, kRich).sync_bytes, 105328u);
}

TEST(ScanPlan, SmallScansHaveSmallChunks) {
  DeviceLimits hopper = with_processors(90);
  const auto plan_of = [&](ScanNeeds scan) { return plan_subsequences(hopper, scan); };
  const auto of_bytes = [](std::uint32_t bytes, std::uint32_t block_bits) {
    return ScanNeeds{bytes, bytes * 8 / block_bits, 1, bytes / kSubsequenceBytes, 2, 6};
  };
  struct Row {
    std::uint32_t bytes, block_bits, chunk, stride, ends;
  };
  constexpr Row kRows[] = {
      {70000, 30, 32, 1, 16},    {80000, 30, 160, 2, 16},   {40000, 5, 160, 2, 16},
      {12500, 2, 224, 4, 16},    {40000, 6, 32, 1, 16},     {40000, 4, 160, 2, 16},
      {40000, 3, 224, 4, 16},    {560000, 80, 160, 2, 16},  {580000, 80, 224, 4, 11},
      {700000, 120, 224, 4, 16}, {2400000, 100, 224, 4, 11}};
  for (const Row& row : kRows) {
    const SubsequencePlan plan = plan_of(of_bytes(row.bytes, row.block_bits));
    EXPECT_EQ(plan.chunk_subsequences, row.chunk) << row.bytes << " " << row.block_bits;
    EXPECT_EQ(plan.guess_stride, row.stride) << row.bytes << " " << row.block_bits;
    EXPECT_EQ(plan.most_ends, row.ends) << row.bytes << " " << row.block_bits;
    EXPECT_EQ(plan.chunks, ceil_div(row.bytes / kSubsequenceBytes, row.chunk));
    EXPECT_EQ(plan.long_slots != 0, row.chunk != 32) << "long walks need a whole chunk";
    EXPECT_EQ(resident_ctas(hopper, {384, 0, plan.sync_bytes}) >= 3,
              row.chunk != 224 || row.ends == 11);
  }
  ScanNeeds scan = of_bytes(70000, 30);
  scan.large_chunks = true;
  EXPECT_EQ(plan_of(scan).chunk_subsequences, kChunkSubsequences);
  scan = of_bytes(400000, 80);
  scan.period = 1;
  EXPECT_EQ(plan_of(scan).guess_stride, 1u) << "few guesses, so a place for each";
  scan.period = 10;
  EXPECT_EQ(plan_of(scan).chunk_subsequences, kChunkSubsequences);
  hopper.processors = 20;
  EXPECT_EQ(plan_of(of_bytes(400000, 80)).chunk_subsequences, kChunkSubsequences)
      << "more than one for a processor";
}

TEST(ScanPlan, SparseScansAreDecodedByOneKernel) {
  const DeviceLimits hopper = with_processors(90);
  ScanNeeds scan = k4k;
  scan.bytes = scan.blocks / 8 * kCollectedBlockBits;
  EXPECT_TRUE(plan_subsequences(hopper, scan).collects);
  scan.large_chunks = true;
  EXPECT_FALSE(plan_subsequences(hopper, scan).collects) << "a scan before it was odd";
  scan.large_chunks = false;
  scan.two_kernels = true;
  EXPECT_FALSE(plan_subsequences(hopper, scan).collects) << "likewise";
  EXPECT_EQ(plan_subsequences(hopper, scan).most_ends, kUsualEnds);
  scan.two_kernels = false;
  scan.bytes += scan.blocks / 8;
  EXPECT_FALSE(plan_subsequences(hopper, scan).collects);
  EXPECT_FALSE(plan_subsequences(hopper, kRich).collects) << "many guesses";
  for (const std::uint32_t size : {70000u, 400000u}) {
    ScanNeeds small{size, size / 10, 1, size / kSubsequenceBytes, 2, 6};
    small.two_kernels = true;
    const SubsequencePlan plan = plan_subsequences(hopper, small);
    EXPECT_LT(plan.chunk_subsequences, kChunkSubsequences);
    EXPECT_TRUE(plan.collects) << "smaller chunks always are";
  }
}

TEST(ScanPlan, RestartsInShortIntervalsNeedNoGuesses) {
  ScanNeeds scan = k4k;
  scan.intervals = scan.bytes / (kFollowedSubsequences * kSubsequenceBytes);
  EXPECT_EQ(plan_subsequences(limits_of_capability(90), scan).guess_stride, 0u);
  scan.intervals /= 2;
  EXPECT_EQ(plan_subsequences(limits_of_capability(90), scan).guess_stride, kGuessStride);
}

TEST(ScanPlan, ShortIntervalsOfSparseBlocksHaveSmallChunks) {
  const DeviceLimits hopper = with_processors(90);
  // 1920x1080 in one colour with optimal tables, a marker after each row of MCUs.
  const ScanNeeds rows{12500, 48960, 68, 400, 2, 6};
  ScanNeeds scan = rows;
  const auto plan_of = [&] { return plan_subsequences(hopper, scan); };
  EXPECT_EQ(plan_of().chunk_subsequences, kSmallChunk);
  EXPECT_EQ(plan_of().guess_stride, 1u) << "an interval may be long";
  EXPECT_TRUE(plan_of().collects);
  EXPECT_FALSE(plan_of().offers_early);
  scan.subsequences = kSmallChunk * hopper.processors * kSmallChunkQuarters / 4 + 1;
  EXPECT_EQ(plan_of().chunk_subsequences, kMediumChunk) << "too many small ones";
  scan = rows;
  scan.intervals = rows.bytes / ((kShortIntervals + 1) * kSubsequenceBytes);
  EXPECT_EQ(plan_of().chunk_subsequences, kChunkSubsequences) << "its intervals are longer";
  EXPECT_TRUE(plan_of().offers_early);
  scan.two_kernels = true;
  EXPECT_TRUE(plan_of().offers_early);
  scan.large_chunks = true;
  scan.intervals = rows.bytes / (kFollowedSubsequences * kSubsequenceBytes) + 1;
  EXPECT_EQ(plan_of().guess_stride, 0u);
  EXPECT_FALSE(plan_of().offers_early) << "no walks but the true ones";
  scan = rows;
  scan.intervals = 1;
  EXPECT_TRUE(plan_of().offers_early);
  scan.is_followed = true;
  EXPECT_FALSE(plan_of().offers_early) << "there is no such kernel";
  scan = rows;
  scan.blocks = rows.bytes * 8 / kFewestMediumChunkBits;
  EXPECT_EQ(plan_of().chunk_subsequences, kMediumChunk) << "so many bits a block are not sparse";
  EXPECT_FALSE(plan_of().offers_early);
}

TEST(ScanPlan, CrowdedScansHaveFewerGuesses) {
  const DeviceLimits hopper = limits_of_capability(90);
  for (const std::uint32_t size : {400000u, k4k.bytes}) {
    ScanNeeds scan{size, size / 10, 1, size / kSubsequenceBytes, 2, 6};
    const std::uint32_t usual = plan_subsequences(hopper, scan).guess_stride;
    EXPECT_GT(usual, 0u);
    scan.few_guesses = true;
    EXPECT_EQ(plan_subsequences(hopper, scan).guess_stride, usual * kFewerGuesses);
    scan.intervals = size / kSubsequenceBytes;
    EXPECT_EQ(plan_subsequences(hopper, scan).guess_stride, 0u) << "every interval is followed";
  }
}

TEST(ScanPlan, DenseScansAreSynchronisedByLongWalksWhereThereIsMemory) {
  const DeviceLimits hopper = limits_of_capability(90);
  EXPECT_EQ(plan_subsequences(hopper, k4k).long_slots, kMostLongSlots);
  EXPECT_FALSE(plan_subsequences(hopper, k4k).far_only);
  ScanNeeds dense = k4k;
  dense.bytes = dense.blocks / 8 * (kLongWalkBlockBits + 8);
  EXPECT_TRUE(plan_subsequences(hopper, dense).far_only);
  dense.standard_codes = true;
  EXPECT_FALSE(plan_subsequences(hopper, dense).far_only);
  dense.bytes = dense.blocks / 8 * (kLongWalkStandardBits + 8);
  EXPECT_TRUE(plan_subsequences(hopper, dense).far_only);
  dense.intervals = dense.bytes / (kFollowedSubsequences * kSubsequenceBytes);
  EXPECT_FALSE(plan_subsequences(hopper, dense).far_only) << "every interval is followed";
  dense.intervals = 1;
  EXPECT_EQ(plan_subsequences(hopper, dense).most_ends, kUsualEnds) << "as three CTAs allow";
  ScanNeeds asked = k4k;
  asked.large_chunks = true;
  asked.far_walks = FarWalks::from_guesses;
  const SubsequencePlan plan = plan_subsequences(hopper, asked);
  EXPECT_TRUE(plan.far_only);
  EXPECT_EQ(plan.long_slots, kMostLongSlots);
  EXPECT_FALSE(plan.every_bit);
  asked.far_walks = FarWalks::if_dense;
  EXPECT_FALSE(plan_subsequences(hopper, asked).far_only);
  asked.far_walks = FarWalks::from_every_bit;
  EXPECT_TRUE(plan_subsequences(hopper, asked).far_only);
  EXPECT_TRUE(plan_subsequences(hopper, asked).every_bit);
  EXPECT_TRUE(has_seed_room(7, kLargeRoom));
  EXPECT_FALSE(has_seed_room(6, kLargeRoom));
  EXPECT_EQ(plan_subsequences(with_shared(62), asked).most_ends, 6u);
  EXPECT_FALSE(plan_subsequences(with_shared(62), asked).every_bit);
  EXPECT_EQ(choose_long_slots(kUsualEnds, kLargeRoom), kMostLongSlots);
  EXPECT_EQ(choose_long_slots(7, kLargeRoom), kMostLongSlots / 2);
  EXPECT_EQ(choose_long_slots(1, kLargeRoom), 0u);
  EXPECT_EQ(plan_subsequences(with_shared(64), dense).long_slots, kMostLongSlots / 2);
  for (const int capability : kCapabilities)
    EXPECT_GT(plan_subsequences(limits_of_capability(capability), dense).long_slots, 0u)
        << capability;
}

TEST(ScanPlan, LateWalksAreFewBeforeThereIsAnotherWay) {
  const DeviceLimits hopper = limits_of_capability(90);
  ScanNeeds scan = k4k;
  scan.large_chunks = true;
  const SubsequencePlan guesses = plan_subsequences(hopper, scan);
  scan.far_walks = FarWalks::from_guesses;
  const SubsequencePlan far = plan_subsequences(hopper, scan);
  scan.more_late_walks = true;
  const SubsequencePlan last_far = plan_subsequences(hopper, scan);
  scan.more_late_walks = false;
  scan.far_walks = FarWalks::from_every_bit;
  const SubsequencePlan every_bit = plan_subsequences(hopper, scan);
  ASSERT_TRUE(!guesses.far_only && far.far_only && last_far.far_only && every_bit.every_bit);
  EXPECT_EQ(guesses.most_late_walks, kMostLateWalks + kMostLateWalksOfChunks * guesses.chunks);
  EXPECT_EQ(guesses.most_late_long_walks, far.most_late_long_walks);
  EXPECT_EQ(far.most_late_long_walks, kMostLateLongWalks + far.chunks);
  EXPECT_EQ(last_far.most_late_long_walks, kMostLastLateWalks + far.chunks);
  EXPECT_EQ(every_bit.most_late_long_walks,
            kMostLastLateWalks + kMostLastLateWalksOfChunk * every_bit.chunks);
  EXPECT_GT(every_bit.most_late_long_walks, 2 * last_far.most_late_long_walks);
  EXPECT_GT(last_far.most_late_long_walks, far.most_late_long_walks + 128);
}

TEST(ScanPlan, ManyLateWalksAreMadeFromGuessesWhereNoOtherWayIsLeft) {
  ScanNeeds scan = k4k;
  scan.far_walks = FarWalks::from_guesses;
  scan.large_chunks = true;
  const SubsequencePlan plan = plan_subsequences(with_shared(62), scan);
  ASSERT_TRUE(plan.far_only);
  EXPECT_EQ(plan.most_late_long_walks, kMostLastLateWalks + plan.chunks);
}

TEST(ScanPlan, FewLateWalksAreMadeFromGuessesWhereChunksAreFew) {
  const DeviceLimits hopper = limits_of_capability(90);
  ScanNeeds scan{24300, 32400, 1, 675, 1, 1, 0};  // grey of one colour, 1920x1080, standard tables
  scan.large_chunks = true;
  scan.far_walks = FarWalks::from_guesses;
  const SubsequencePlan plan = plan_subsequences(hopper, scan);
  ASSERT_TRUE(plan.far_only);
  ASSERT_EQ(plan.chunks, 4u);
  EXPECT_LT(plan.most_late_long_walks * 3, 228u) << "as many as it needs from guesses";
  for (const auto& [chunks, needed] : {std::pair{406u, 272u}, {544u, 380u}}) {  // noise
    scan.subsequences = chunks * kChunkSubsequences;
    scan.bytes = scan.subsequences * kSubsequenceBytes;
    EXPECT_GT(plan_subsequences(hopper, scan).most_late_long_walks * 4, 5 * needed);
  }
}

TEST(ScanPlan, ChunksAssumeNothingWhereTheyAreFew) {
  const DeviceLimits hopper = limits_of_capability(90);
  for (const std::uint32_t chunks :
       {1u, 3u, kFewestAssumingChunks - 1, kFewestAssumingChunks, 50u}) {
    ScanNeeds scan{};
    scan.subsequences = chunks * kChunkSubsequences;
    scan.bytes = scan.subsequences * kSubsequenceBytes;
    scan.blocks = scan.bytes * 8 / 3;
    scan.intervals = 1;
    scan.pairs = 2;
    scan.period = 6;
    const SubsequencePlan plan = plan_subsequences(hopper, scan);
    ASSERT_EQ(plan.chunks, chunks);
    EXPECT_EQ(plan.assumes, chunks >= kFewestAssumingChunks);
  }
}

TEST(ScanPlan, EveryCapabilityDecodesUsualScansWithoutTheCarefulDecoder) {
  for (const int capability : kCapabilities) {
    const DeviceLimits limits = with_processors(capability);
    for (const ScanNeeds& scan : {k4k, kGrey, kSmall}) {
      const SubsequencePlan plan = plan_subsequences(limits, scan);
      EXPECT_TRUE(plan.fits) << capability;
      EXPECT_GE(plan.most_ends, scan.period) << capability;
      EXPECT_GE(resident_ctas(limits, {kSyncThreads, 0, plan.sync_bytes}), 1u) << capability;
      EXPECT_GE(resident_ctas(limits, {plan.chunk_subsequences, 0, plan.decode_bytes}), 1u);
    }
  }
}

TEST(ScanPlan, RichScansTakeFewerEndsOrTheCarefulDecoder) {
  struct Row {
    int capability;
    bool fits;
    std::uint32_t ends;
  };
  constexpr Row kRows[] = {{75, false, 0},  {80, true, 16},  {86, true, 14},  {87, true, 16},
                           {89, true, 14},  {90, true, 16},  {100, true, 16}, {103, true, 16},
                           {110, true, 16}, {120, true, 14}, {121, true, 14}};
  for (const Row& row : kRows) {
    const DeviceLimits limits = limits_of_capability(row.capability);
    const SubsequencePlan plan = plan_subsequences(limits, kRich);
    EXPECT_EQ(plan.fits, row.fits) << row.capability;
    EXPECT_EQ(plan.most_ends, row.ends) << row.capability;
    EXPECT_LE(plan.sync_bytes, limits.shared_of_cta) << row.capability;
  }
}

TEST(ScanPlan, OddLimitsAreKept) {
  struct Row {
    std::size_t kib;
    std::uint32_t usual, grey, rich;  ///< ends; 0: not by subsequences
  };
  constexpr Row kRows[] = {{16, 0, 0, 0},    {48, 0, 7, 0},     {64, 7, 11, 0},
                           {99, 11, 11, 14}, {163, 11, 11, 16}, {227, 11, 11, 16}};
  for (const Row& row : kRows) {
    const DeviceLimits limits = with_shared(row.kib);
    const auto ends = [&](const ScanNeeds& scan) {
      const SubsequencePlan plan = plan_subsequences(limits, scan);
      EXPECT_LE(std::max(plan.sync_bytes, plan.decode_bytes), row.kib * kKib);
      return plan.fits ? plan.most_ends : 0;
    };
    EXPECT_EQ(ends(k4k), row.usual) << row.kib;
    EXPECT_EQ(ends(kGrey), row.grey) << row.kib;
    EXPECT_EQ(ends(kRich), row.rich) << row.kib;
  }
}

/// What a scan does not need is not asked for.
TEST(ScanPlan, NoCtaAsksForMoreThanItsScanNeeds) {
  const DeviceLimits hopper = limits_of_capability(90);
  EXPECT_LT(plan_subsequences(hopper, kGrey).sync_bytes, plan_subsequences(hopper, k4k).sync_bytes);
  EXPECT_LT(plan_subsequences(hopper, kGrey).decode_bytes,
            plan_subsequences(hopper, k4k).decode_bytes);
}

}  // namespace
}  // namespace zerorun
