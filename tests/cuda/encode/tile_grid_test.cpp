// The fused encoder's host parts: how it cuts a scan, and where its kernels look codes up.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstdint>
#include <algorithm>
#include <set>

#include "cuda/encode/code_table.hpp"
#include "cuda/encode/tile_grid.hpp"

namespace zerorun::test {
namespace {

TEST(KnownDivisor, DividesAsDivisionDoes) {
  constexpr std::uint32_t kEnd = 1u << 31;
  for (std::uint32_t d = 1; d <= 70'000; d += d < 2000 ? 1 : 977) {
    const KnownDivisor divisor(d);
    for (const std::uint32_t base : {0u, d, 7 * d, 1000 * d, kEnd / 2, kEnd - 2 * d, kEnd / d * d})
      for (const std::int64_t near : {-1, 0, 1}) {
        const std::int64_t n = std::int64_t{base} + near;
        if (n < 0 || n >= std::int64_t{kEnd}) continue;
        const auto number = static_cast<std::uint32_t>(n);
        ASSERT_EQ(divisor.quotient(number), number / d) << number << " / " << d;
      }
  }
}

ScanLayout layout_of(int mcus_wide, int mcus_high, int blocks_per_mcu, int restart_interval) {
  ScanLayout layout{};
  layout.mcus_wide = mcus_wide;
  layout.mcus_high = mcus_high;
  layout.blocks_per_mcu = blocks_per_mcu;
  layout.restart_interval = restart_interval;
  return layout;
}

TEST(TileGrid, CutsEveryIntervalIntoWholeTilesButTheLast) {
  for (const int blocks : {1, 3, 4, 6})
    for (const int interval : {0, 1, 5, 6, 64, 100, 1000}) {
      const ScanLayout layout = layout_of(40, 11, blocks, interval);
      const TileGrid grid = make_tile_grid(layout, 0);
      std::uint32_t tiles = 0, chunks = 0;
      for (std::int64_t first = 0; first < layout.mcus(); first += grid.interval_mcus) {
        const std::int64_t mcus = std::min<std::int64_t>(grid.interval_mcus, layout.mcus() - first);
        const auto own =
            static_cast<std::uint32_t>((mcus * blocks + kTileBlocks - 1) / kTileBlocks);
        tiles += own;
        chunks += (own + kChunkTiles - 1) / kChunkTiles;
      }
      EXPECT_EQ(grid.tiles, tiles) << blocks << " " << interval;
      EXPECT_EQ(grid.chunks, chunks) << blocks << " " << interval;
      EXPECT_EQ(grid.mcus, layout.mcus());
      EXPECT_EQ(grid.groups, 0u);
    }
}

/// Groups are numbered as the index has them, from what the kernels know of a block.
TEST(TileGrid, NumbersTheGroupsOfTheIndex) {
  for (const int blocks : {1, 3, 4, 6})
    for (const int interval : {0, 1, 5, 64, 1000})
      for (const int group_mcus : {1, 2, 4}) {
        const ScanLayout layout = layout_of(40, 11, blocks, interval);
        const TileGrid grid = make_tile_grid(layout, group_mcus);
        std::uint32_t groups = 0;
        for (std::uint32_t mcu = 0; mcu < grid.mcus; ++mcu) {
          const std::uint32_t in_interval = mcu % grid.interval_mcus;
          if (in_interval % static_cast<std::uint32_t>(group_mcus) == 0) ++groups;
          const std::uint32_t block = in_interval * static_cast<std::uint32_t>(blocks);
          const std::uint32_t number = mcu / grid.interval_mcus * grid.interval_groups +
                                       grid.by_group_blocks.quotient(block);
          ASSERT_EQ(number + 1, groups) << blocks << ' ' << interval << ' ' << group_mcus;
        }
        EXPECT_EQ(grid.groups, groups);
      }
}

/// Calls visit(ac, destination, symbol, negative) for all symbols of a scan with both signs.
template <typename Visit>
void for_all_slots(const Visit& visit) {
  for (const bool ac : {false, true})
    for (int destination = 0; destination < 2; ++destination)
      for (int symbol = 0; symbol < 256; ++symbol)
        if (has_code_slot(ac, symbol))
          for (const bool negative : {false, true}) visit(ac, destination, symbol, negative);
}

TEST(CodeTable, EverySymbolHasItsOwnWord) {
  std::set<int> taken;
  for_all_slots([&](bool ac, int destination, int symbol, bool negative) {
    const int slot = code_slot(ac, destination, symbol, negative);
    ASSERT_GE(slot, 0);
    ASSERT_LT(slot, kCodeWords);
    if (symbol == 0 && negative)
      EXPECT_EQ(slot, code_slot(ac, destination, symbol, false));
    else
      EXPECT_TRUE(taken.insert(slot).second) << ac << destination << " " << symbol << negative;
  });
}

/// As the kernels do it: the row by run, the column by size; the word before a row has no size.
TEST(CodeTable, RowsAreRunsAndColumnsAreSizes) {
  for (int destination = 0; destination < 2; ++destination)
    for (const bool negative : {false, true}) {
      const int first = kCodePad + (2 * destination + (negative ? 0 : 1)) * kSignedCodes;
      for (int size = 1; size <= 11; ++size)
        EXPECT_EQ(code_slot(false, destination, size, negative), first + size - 1);
      for (int run = 0; run < 16; ++run)
        for (int size = 1; size <= 10; ++size)
          EXPECT_EQ(code_slot(true, destination, run * 16 + size, negative),
                    first + (run + 1) * kCodeColumns + size - 1);
      EXPECT_EQ(code_slot(true, destination, kZrl, negative), first + 16 * kCodeColumns - 1);
      EXPECT_EQ(code_slot(negative, destination, 0, negative), first - 1);
    }
}

/// The kernels' way from a word and a value to bits, left-aligned, against T.81 F.1.2.1.
TEST(CodeTable, AWordMasksTheAppendedBits) {
  constexpr std::uint32_t kCode = 0b1011;
  constexpr std::uint32_t kBits = 4;
  for (int value = -1023; value <= 1023; ++value) {
    if (value == 0) continue;
    const Symbol symbol = make_symbol(0, value, 2);
    const std::uint32_t size = symbol.rrrrssss;
    const std::uint32_t word = code_word(kCode, kBits, size, value < 0);
    const std::uint32_t length = word & 0xFFFF;
    ASSERT_EQ(length, kBits + size);
    const auto appended = static_cast<std::uint32_t>(value < 0 ? value - 1 : value);
    const std::uint32_t found = (word & 0xFFFF0000u) ^ appended << (32 - length);
    EXPECT_EQ(found >> (32 - length), kCode << size | symbol.appended) << value;
  }
}

}  // namespace
}  // namespace zerorun::test
