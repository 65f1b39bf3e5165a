// Where the kernels look codes up, and how the encoder cuts a scan into tiles and chunks.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>

#include "cuda/base/kernel_numbers.hpp"
#include "cuda/encode/code_table.hpp"
#include "cuda/encode/tile_grid.hpp"

namespace zerorun::test {
namespace {

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

/// No symbol has the size of items without bits.
TEST(CodeTable, ItemsWithoutBitsHaveNoCode) {
  for_all_slots([&](bool ac, int destination, int symbol, bool negative) {
    EXPECT_LT(code_slot(ac, destination, symbol, negative), kNoCodeSize * kSizeWords);
  });
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
      const TileGrid grid = make_tile_grid(layout);
      std::uint32_t tiles = 0, chunks = 0;
      std::uint32_t intervals = 0;
      for (std::int64_t first = 0; first < layout.mcus(); first += grid.interval_mcus) {
        const std::int64_t mcus = std::min<std::int64_t>(grid.interval_mcus, layout.mcus() - first);
        const auto own =
            static_cast<std::uint32_t>((mcus * blocks + kTileBlocks - 1) / kTileBlocks);
        tiles += own;
        // Kernels find the interval of a tile and of a chunk by its number.
        ASSERT_EQ(grid.by_interval_tiles.quotient(tiles - 1), intervals);
        ASSERT_EQ(grid.by_interval_chunks.quotient(chunks), intervals);
        chunks += (own + kChunkTiles - 1) / kChunkTiles;
        ASSERT_EQ(grid.by_interval_chunks.quotient(chunks - 1), intervals);
        ++intervals;
      }
      EXPECT_EQ(grid.intervals, intervals);
      EXPECT_EQ(grid.tiles, tiles) << blocks << " " << interval;
      EXPECT_EQ(grid.chunks, chunks) << blocks << " " << interval;
      EXPECT_EQ(grid.mcus, layout.mcus());
    }
}

/// By which kernels find the interval of a tile.
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

}  // namespace
}  // namespace zerorun::test
