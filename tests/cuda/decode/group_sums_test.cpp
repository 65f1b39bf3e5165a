// Where groups lie according to their index, also if the index is wrong in any way.
// SPDX-License-Identifier: MIT
#include "cuda/decode/group_sums.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/random.hpp"

namespace zerorun::test {
namespace {

ScanLayout layout_of(int width, int height, int restart_interval) {
  const ComponentSpec specs[] = {{2, 2, 0, 0}, {1, 1, 1, 1}, {1, 1, 1, 1}};
  const int components[] = {0, 1, 2};
  return make_scan_layout(width, height, specs, 3, components, 3, restart_interval);
}

std::vector<std::uint64_t> sums_of(const std::vector<IndexEntry>& entries) {
  std::vector<std::uint64_t> sums{0};
  for (const IndexEntry& e : entries)
    sums.push_back((sums.back() + pack_sum(e.bits, e.pairs)) & kGroupSumMask);
  return sums;
}

TEST(GroupSums, EntriesAreReadAcrossSegments) {
  std::vector<std::uint8_t> stream(3);
  constexpr std::uint32_t kGroups = kIndexSegmentEntries + 5;
  const ScanIndexPlace place = append_index_segments(4, kGroups, stream);
  std::vector<IndexEntry> entries(kGroups);
  Random random(41);
  for (auto& entry : entries)
    entry = {static_cast<std::uint16_t>(random.next()), static_cast<std::uint16_t>(random.next())};
  fill_index(place, entries, stream);
  for (std::uint32_t i = 0; i < kGroups; ++i)
    ASSERT_EQ(read_entry(stream.data() + place.offset, i),
              pack_sum(entries[i].bits, entries[i].pairs));
}

/// The bits of a scan's intervals one after the other, some with padding.
struct Sound {
  GroupGrid grid;
  std::vector<IndexEntry> entries;
  std::vector<std::uint32_t> interval_first{0};
  std::uint64_t pairs = 0;
};

Sound make_sound(Random& random, const ScanLayout& layout, int group_mcus, int most_bits) {
  Sound out;
  out.grid = make_group_grid(layout, group_mcus);
  std::uint64_t bits = 0;
  for (std::uint32_t g = 0; g < out.grid.groups; ++g) {
    const auto own = static_cast<std::uint16_t>(random.between(2, most_bits));
    const auto pairs = static_cast<std::uint16_t>(random.between(1, own / 2));
    out.entries.push_back({own, pairs});
    bits += own;
    out.pairs += pairs;
    if ((g + 1) % out.grid.interval_groups == 0 || g + 1 == out.grid.groups) {
      out.interval_first.push_back(out.interval_first.back() +
                                   static_cast<std::uint32_t>((bits + 7) / 8));
      bits = 0;
    }
  }
  return out;
}

TEST(GroupSums, SoundGroupsStandOneBehindTheOther) {
  Random random(42);
  for (const int interval : {0, 1, 3, 4, 7, 20, 1000})
    for (const int group_mcus : {1, 2, 4}) {
      const ScanLayout layout = layout_of(200, 130, interval);
      const Sound sound = make_sound(random, layout, group_mcus, 3000);
      const auto sums = sums_of(sound.entries);
      PairTarget next{0, 0};
      std::uint32_t bit = 0, last = 0;
      for (std::uint32_t g = 0; g < sound.grid.groups; ++g) {
        Group group{};
        ASSERT_TRUE(place_group(sound.grid, sums.data(), sound.interval_first.data(),
                                static_cast<std::uint32_t>(sound.pairs), g, group));
        ASSERT_EQ(group.bit, bit);
        ASSERT_EQ(group.stop, bit + sound.entries[g].bits);
        ASSERT_EQ(group.first.block, next.block);
        ASSERT_EQ(group.first.pair, next.pair);
        ASSERT_GT(group.behind.block, next.block);
        ASSERT_LE(group.behind.block - next.block, sound.grid.group_blocks);
        ASSERT_EQ(group.behind.pair, next.pair + sound.entries[g].pairs);
        next = group.behind;
        bit = group.is_last ? group.end : group.stop;
        if (group.is_last) {
          ASSERT_LT(group.end - group.stop, 8u);
          ASSERT_EQ(group.end, sound.interval_first[++last] * 8);
        }
      }
      EXPECT_EQ(next.block, layout.blocks());
      EXPECT_EQ(last, layout.intervals());
    }
}

/// If groups are said to be larger than there is room for, the first such group is rejected at the
/// latest, however large the sums get; and no accepted group lies outside.
TEST(GroupSums, NoGroupIsPlacedOutside) {
  Random random(43);
  for (int turn = 0; turn < 60; ++turn) {
    // 32,400 and more groups, so that 65,535 of each are more than a sum has room for.
    const ScanLayout layout = turn % 3 == 0 ? layout_of(8000, 4400, turn % 2 == 0 ? 0 : 5000)
                                            : layout_of(300, 200, random.between(0, 30));
    Sound sound = make_sound(random, layout, 1, 60);
    const int changes = turn % 3 == 0 ? static_cast<int>(sound.grid.groups) : 1 << turn % 6;
    const int kind = random.below(4);
    for (int i = 0; i < changes; ++i) {
      auto& entry =
          sound
              .entries[static_cast<std::size_t>(random.below(static_cast<int>(sound.grid.groups)))];
      if (kind != 0) entry.bits = static_cast<std::uint16_t>(kind == 1 ? 65535 : random.next());
      if (kind != 1) entry.pairs = static_cast<std::uint16_t>(kind == 0 ? 65535 : random.next());
    }
    const auto sums = sums_of(sound.entries);
    const auto capacity = static_cast<std::uint32_t>(sound.pairs);
    std::uint64_t bits = 0, pairs = 0;
    bool possible = true;
    for (std::uint32_t g = 0; g < sound.grid.groups; ++g) {
      const std::uint32_t interval = g / sound.grid.interval_groups;
      if (g % sound.grid.interval_groups == 0) bits = 0;
      bits += sound.entries[g].bits;
      pairs += sound.entries[g].pairs;
      const std::uint64_t begin = std::uint64_t{sound.interval_first[interval]} * 8;
      const std::uint64_t end = std::uint64_t{sound.interval_first[interval + 1]} * 8;
      const bool fits = begin + bits <= end && pairs <= capacity;
      Group group{};
      const bool placed =
          place_group(sound.grid, sums.data(), sound.interval_first.data(), capacity, g, group);
      if (possible) {
        ASSERT_EQ(placed, fits) << "group " << g;
      }
      possible = possible && placed;
      if (!placed) continue;
      ASSERT_LE(begin, group.bit);
      ASSERT_LE(group.bit, group.stop);
      ASSERT_LE(group.stop, end);
      ASSERT_LE(group.first.pair, group.behind.pair);
      ASSERT_LE(group.behind.pair, capacity);
      ASSERT_LE(group.behind.block, layout.blocks());
    }
  }
}

TEST(GroupSums, PaddingIsLessThanAByteOfOnes) {
  Group group{};
  group.stop = 100;
  group.end = 104;
  EXPECT_TRUE(ends_well(group, 100, 0));
  EXPECT_FALSE(ends_well(group, 101, 0xFFFFFFFF));
  group.is_last = true;
  EXPECT_TRUE(ends_well(group, 100, 0xF0000000));
  EXPECT_FALSE(ends_well(group, 100, 0xE0000000));
  group.end = 108;
  EXPECT_FALSE(ends_well(group, 100, 0xFFFFFFFF));
}

}  // namespace
}  // namespace zerorun::test
