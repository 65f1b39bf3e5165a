// How the fused encoder cuts a scan: tiles of whole MCUs, none across a restart interval, each
// coded by one CTA; chunks of some tiles, each assembled by one CTA.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/syntax/scan_layout.hpp"

namespace zerorun {

/// Threads of a CTA that codes a tile, and its largest number of blocks. A multiple of 32 times the
/// blocks of every MCU that the encoder makes (1, 3, 4, 6), so that whole tiles fill whole warps
/// and each warp has blocks of one component. 4K q90 on an H200, us a frame in four streams and one
/// frame alone: 28.8 and 52.2 with 192, 29.9 and 50.3 with 96.
inline constexpr int kTileBlocks = 192;

/// Tiles of a chunk. At q90 a tile has some 2000 bytes. The same figures, before other
/// changes: 29.3 and 53.3 with 3 tiles and CTAs of 256 threads, 28.8 and 52.2 with 2 and 192.
inline constexpr int kChunkTiles = 2;

/// Words that a tile is given in memory: enough for the longest codes in all its blocks.
inline constexpr std::int64_t kTileWords = (kTileBlocks * std::int64_t{27 + 63 * 26} + 31) / 32 + 1;

/// Numbers of one kind in one interval; the last interval may have fewer. Plain data.
struct TileGrid {
  std::uint32_t tile_mcus;        ///< of every tile but an interval's last
  std::uint32_t interval_mcus;    ///< of every interval but the last
  std::uint32_t interval_tiles;   ///< likewise
  std::uint32_t interval_chunks;  ///< likewise
  std::uint32_t intervals, tiles, chunks;
};

inline TileGrid make_tile_grid(const ScanLayout& layout) {
  const auto up = [](std::int64_t a, std::int64_t b) {
    return static_cast<std::uint32_t>((a + b - 1) / b);
  };
  TileGrid grid{};
  grid.tile_mcus = static_cast<std::uint32_t>(kTileBlocks / layout.blocks_per_mcu);
  grid.interval_mcus = static_cast<std::uint32_t>(layout.interval_mcus());
  grid.intervals = static_cast<std::uint32_t>(layout.intervals());
  grid.interval_tiles = up(grid.interval_mcus, grid.tile_mcus);
  grid.interval_chunks = up(grid.interval_tiles, kChunkTiles);
  const std::int64_t last_mcus =
      layout.mcus() - std::int64_t{grid.intervals - 1} * grid.interval_mcus;
  const std::uint32_t last_tiles = up(last_mcus, grid.tile_mcus);
  grid.tiles = (grid.intervals - 1) * grid.interval_tiles + last_tiles;
  grid.chunks = (grid.intervals - 1) * grid.interval_chunks + up(last_tiles, kChunkTiles);
  return grid;
}

}  // namespace zerorun
