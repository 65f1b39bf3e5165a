// Groups of MCUs, decoded from where an index says: they give the pairs that subsequences give, and
// decoding ends whatever the bits are.
// SPDX-License-Identifier: MIT
#include "cuda/decode/group_walk.hpp"

#include <gtest/gtest.h>

#include "tests/cuda/decode/host_groups.hpp"
#include "tests/cuda/decode/random_scan.hpp"

namespace zerorun::test {
namespace {

TEST(GroupWalk, HasWhatSubsequencesHave) {
  Random random(31);
  int groups = 0;
  for (int turn = 0; turn < 300; ++turn) {
    const CleanScan scan = random_scan(random);
    const ScanLayout& layout = scan.header.layout;
    const PairCycle cycle = make_pair_cycle(layout);
    const auto tables = make_host_tables(tables_of(scan.header, cycle));
    const HostTables on_host{tables.get(), cycle};
    const auto words = words_of(scan.bytes);
    Walk walk{0, 0, 0};
    PairTarget target{static_cast<std::uint32_t>(random.below(500)), 77};
    // A group of the first interval; it may be larger than an index allows.
    for (std::int64_t mcu = 0, count; mcu < std::min(layout.mcus(), layout.interval_mcus());
         mcu += count) {
      count = std::min<std::int64_t>(random.between(1, 4), layout.interval_mcus() - mcu);
      count = std::min(count, layout.mcus() - mcu);
      const auto blocks = static_cast<std::uint32_t>(count * layout.blocks_per_mcu);
      const std::uint32_t begin = walk.bit;
      const StoredPairs sub = decode_blocks(words, on_host, blocks, target, walk);
      ASSERT_EQ(sub.faults, 0u);
      const StoredGroup group =
          decode_stored(words, on_host, {begin, walk.bit, blocks}, target.pair);
      ASSERT_TRUE(group.in_order);
      ASSERT_FALSE(group.end.fault);
      ASSERT_EQ(group.end.bit, walk.bit);
      ASSERT_EQ(group.end.blocks, blocks);
      ASSERT_EQ(group.end.pair, sub.end.pair);
      ASSERT_EQ(group.end.window,
                window_of({words[walk.bit / 32], words[walk.bit / 32 + 1]}, walk.bit));
      // What follows the appended bits is undefined, but both take it from the same window.
      ASSERT_EQ(group.pairs, sub.pairs);
      ASSERT_EQ(group.first_pair.size(), blocks + 1);
      for (std::uint32_t b = 0; b < blocks; ++b)
        ASSERT_EQ(group.first_pair[b], sub.blocks[b].first_pair);
      target = sub.end;
      ++groups;
    }
  }
  EXPECT_GT(groups, 300);
}

/// A run past the block's end is a fault, whichever symbol of a look-up it is.
TEST(GroupWalk, RunsEndInTheBlock) {
  const auto tables = make_host_tables({&sample_tables()[0], 1});
  const HostTables on_host{tables.get(), cycle_of(1, 1)};
  for (const bool passes : {false, true})
    for (int singles = 0; singles <= 4; singles += 2) {
      WrittenBits bits;
      bits.put("00");  // DC
      for (int i = 0; i < singles; ++i) bits.put("001");
      for (int i = 0; i < (62 - singles) / 2; ++i) bits.put("11001");  // a 0 before each
      bits.put(passes ? "11001" : "001");
      const std::uint32_t stop = bits.count;
      bits.put("00000000000000000000000000000000000000000000000000");
      const StoredGroup group = decode_stored(words_of(bits.bytes), on_host, {0, stop, 1}, 0);
      EXPECT_EQ(group.end.fault, passes) << singles << " without a run";
      EXPECT_EQ(group.end.bit, passes ? stop - 5 : stop);
      EXPECT_EQ(group.end.blocks, passes ? 0u : 1u);
    }
}

/// With its true index a scan has the levels of the stages. With another one it may not be as said.
TEST(GroupWalk, IndexGivesTheLevelsOfTheStages) {
  Random random(33);
  int as_said = 0;
  for (int turn = 0; turn < 300; ++turn) {
    const CleanScan scan = random_scan(random);
    const PairCycle cycle = make_pair_cycle(scan.header.layout);
    const auto tables = make_host_tables(tables_of(scan.header, cycle));
    const HostTables on_host{tables.get(), cycle};
    const auto words = words_of(scan.bytes);
    const StageScan stages = decode_by_stages(scan);
    HostIndex index = true_index(scan, random.between(1, 2));
    const GroupScan groups = decode_by_index(scan, on_host, words, index);
    ASSERT_EQ(groups.broken, nullptr) << groups.broken;
    ASSERT_TRUE(groups.as_said);
    ASSERT_TRUE(groups.levels == stages.levels);
    const auto last = static_cast<int>(index.sums.size()) - 1;
    index.sums[static_cast<std::size_t>(random.between(1, last))] += random.next() >> 32;
    const GroupScan other = decode_by_index(scan, on_host, words, index);
    ASSERT_EQ(other.broken, nullptr) << other.broken;
    as_said += other.as_said ? 1 : 0;
  }
  EXPECT_LT(as_said, 10) << "wrong sums should be noticed";
}

TEST(GroupWalk, EndsInAnyBits) {
  Random random(32);
  const auto sample = sample_tables();
  for (int turn = 0; turn < 400; ++turn) {
    const int count = random.between(1, kMaxTablePairs);
    std::vector<TablePair> chosen;
    for (int i = 0; i < count; ++i)
      chosen.push_back(
          sample[static_cast<std::size_t>(random.below(static_cast<int>(sample.size())))]);
    const auto tables = make_host_tables(chosen);
    const HostTables on_host{tables.get(), cycle_of(static_cast<std::uint32_t>(count),
                                                    random.between(count, kMaxBlocksPerMcu))};
    std::vector<std::uint8_t> bytes(turn % 4 == 0 ? 9000 : 300);
    const int kind = random.below(4);
    for (auto& byte : bytes)
      byte = kind == 0 ? std::uint8_t{0} : kind == 1 ? std::uint8_t{0xFF} : random.byte();
    const auto words = words_of(bytes);
    const auto bit = static_cast<std::uint32_t>(random.below(64));
    const auto most = std::min(65535, static_cast<int>(bytes.size()) * 8 - 64);
    const std::uint32_t stop = bit + static_cast<std::uint32_t>(random.below(most + 1));
    const auto blocks = turn % 4 == 0 ? 100000u : static_cast<std::uint32_t>(random.between(1, 39));
    const GroupSpan span{bit, stop, blocks};
    const char* const broken = broken_promise(decode_stored(words, on_host, span, 0), span);
    ASSERT_EQ(broken, nullptr) << broken;
  }
}

}  // namespace
}  // namespace zerorun::test
