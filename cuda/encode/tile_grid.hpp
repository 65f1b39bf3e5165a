// How the encoder cuts a scan. A tile is a run of blocks that one warp codes; a chunk is a run of
// tiles that one CTA assembles. Neither crosses the border of a restart interval.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/arith/host_device.hpp"
#include "codec/syntax/scan_layout.hpp"
#include "cuda/base/kernel_numbers.hpp"
#include "cuda/encode/tuning.hpp"

namespace zerorun {

/// Blocks of a tile: one for each lane of a warp. The last tile of an interval may have fewer.
inline constexpr int kTileBlocks = 32;

/// Words of a tile in memory: enough for the longest codes in all its blocks, in whole vectors of
/// four.
inline constexpr std::int64_t kTileWords =
    (kTileBlocks * std::int64_t{27 + 63 * 26} + 127) / 128 * 4;

/// The same for each frame of a launch. blockIdx.y is the frame; in arrays of tiles and chunks
/// those of one frame follow those of the frame before. Plain data.
struct TileGrid {
  KnownDivisor by_interval_tiles, by_interval_chunks, by_mcu_blocks, by_mcus_wide;
  std::uint32_t mcus;
  std::uint32_t interval_mcus;    ///< of each interval; the last one may have fewer
  std::uint32_t interval_tiles;   ///< likewise
  std::uint32_t interval_chunks;  ///< likewise
  std::uint32_t intervals, tiles, chunks;

#ifdef __CUDACC__
  /// Indices in arrays of tiles and of chunks, for the CTA's frame.
  __device__ std::uint32_t tile_index(std::uint32_t tile) const {
    return blockIdx.y * tiles + tile;
  }
  __device__ std::uint32_t chunk_index(std::uint32_t chunk) const {
    return blockIdx.y * chunks + chunk;
  }
#endif
};

inline TileGrid make_tile_grid(const ScanLayout& layout) {
  const auto up = [](std::int64_t a, std::int64_t b) {
    return static_cast<std::uint32_t>(ceil_div(a, b));
  };
  TileGrid grid{};
  grid.interval_mcus = static_cast<std::uint32_t>(layout.interval_mcus());
  grid.intervals = static_cast<std::uint32_t>(layout.intervals());
  grid.interval_tiles = up(layout.interval_mcus() * layout.blocks_per_mcu, kTileBlocks);
  grid.by_interval_tiles = KnownDivisor(grid.interval_tiles);
  grid.by_mcus_wide = KnownDivisor(static_cast<std::uint32_t>(layout.mcus_wide));
  grid.by_mcu_blocks = KnownDivisor(static_cast<std::uint32_t>(layout.blocks_per_mcu));
  grid.mcus = static_cast<std::uint32_t>(layout.mcus());
  grid.interval_chunks = up(grid.interval_tiles, kChunkTiles);
  grid.by_interval_chunks = KnownDivisor(grid.interval_chunks);
  const std::int64_t last_mcus =
      layout.mcus() - std::int64_t{grid.intervals - 1} * grid.interval_mcus;
  const std::uint32_t last_tiles = up(last_mcus * layout.blocks_per_mcu, kTileBlocks);
  grid.tiles = (grid.intervals - 1) * grid.interval_tiles + last_tiles;
  grid.chunks = (grid.intervals - 1) * grid.interval_chunks + up(last_tiles, kChunkTiles);
  return grid;
}

}  // namespace zerorun
