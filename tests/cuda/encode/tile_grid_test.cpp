// How the encoder cuts a scan into tiles and chunks.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>

#include "cuda/base/known_divisor.hpp"
#include "cuda/encode/tile_grid.hpp"

namespace zerorun::test {
namespace {

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
