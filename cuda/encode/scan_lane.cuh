// Where the blocks of a progressive scan lie, a lane each.
// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/base/launch.hpp"
#include "cuda/base/warp.cuh"
#include "cuda/encode/frame_kernels.hpp"
#include "cuda/encode/scan_symbols.hpp"

namespace zerorun::scan_lanes {

constexpr int kThreads = 32 * kScanWarps;

/// The last of `count` numbers, which rise, that is not above `wanted`; the first one is 0.
__device__ inline std::uint32_t last_not_above(const std::uint32_t* numbers, std::uint32_t count,
                                               std::uint32_t wanted) {
  std::uint32_t first = 0;
  while (count > 1) {
    const std::uint32_t half = count / 2;
    if (numbers[first + half] <= wanted)
      first += half, count -= half;
    else
      count = half;
  }
  return first;
}

/// The lane's block of a scan.
struct ScanLane {
  std::uint32_t tile;         ///< of the scan
  bool has_tile, exists;      ///< the warp has a tile, the lane a block
  std::uint32_t interval;     ///< its restart interval
  std::uint32_t mcu;          ///< of the scan
  std::uint32_t in_interval;  ///< the same, counted in the interval
  std::uint32_t in_mcu;
  bool starts_interval, ends_interval;  ///< of the tile

  /// By a CTA that has tiles of the scan, and has number `cta` of these.
  __device__ ScanLane(const CodedScan& scan, std::uint32_t cta) {
    const TileGrid& grid = scan.grid;
    tile = cta * kScanWarps + threadIdx.x / 32;
    has_tile = tile < grid.tiles;
    interval = grid.by_interval_tiles.quotient(tile);
    const std::uint32_t in_tiles = tile - interval * grid.interval_tiles;
    const std::uint32_t block = in_tiles * kTileBlocks + threadIdx.x % 32;
    in_interval = grid.by_mcu_blocks.quotient(block);
    in_mcu = block - in_interval * grid.by_mcu_blocks.value;
    mcu = interval * grid.interval_mcus + in_interval;
    exists = has_tile && in_interval < grid.interval_mcus && mcu < grid.mcus;
    starts_interval = in_tiles == 0;
    ends_interval = in_tiles + 1 == grid.interval_tiles || tile + 1 == grid.tiles;
  }

  /// Of the tile in arrays of tiles, for a scan of its blocks.
  __device__ std::uint64_t index(const ScriptArgs& a, const CodedScan& scan) const {
    return std::uint64_t{blockIdx.y} * a.tiles + scan.first_tile + tile;
  }
};

/// Coefficients of the CTA's frame.
__device__ inline const std::int16_t* dc_of_frame(const StoredFrames& f) {
  return f.dc + std::uint64_t{blockIdx.y} * f.blocks;
}
__device__ inline const std::int16_t* ac_of_block(const StoredFrames& f, std::uint32_t block) {
  return f.ac + (std::uint64_t{blockIdx.y} * f.blocks + block) * kBlockSize;
}
__device__ inline const std::uint64_t* level_of_frame(const StoredFrames& f, std::uint32_t level) {
  return f.nonzero + (std::uint64_t{blockIdx.y} * f.levels + level) * f.blocks;
}

/// The lane's block of a scan of AC. A lane without one has no coefficients.
struct AcBlock {
  std::uint32_t number = 0;  ///< among those of all components
  std::uint64_t now = 0, before = 0;

  __device__ AcBlock(const StoredFrames& f, const CodedScan& scan, const ScanLane& lane) {
    if (!lane.exists) return;
    number = f.component[scan.block[0].component].first + lane.mcu;
    now = level_of_frame(f, scan.al)[number];
    if (scan.is_refinement()) before = level_of_frame(f, scan.ah)[number];
  }
  __device__ BandBlock in(const CodedScan& scan) const { return {scan.band(), now, before}; }
};

/// DC of a block of a scan, without its lower bits. A block of padding has that of the last block
/// before it in its MCU that holds samples.
__device__ inline std::int32_t dc_of_block(const StoredFrames& f, const CodedScan& scan,
                                           std::uint32_t mcu, std::uint32_t in_mcu) {
  const std::uint32_t mcu_y = scan.grid.by_mcus_wide.quotient(mcu);
  const std::uint32_t mcu_x = mcu - mcu_y * scan.grid.by_mcus_wide.value;
  for (;; --in_mcu) {
    const McuBlock& b = scan.block[in_mcu];
    const StoredComponent& c = f.component[b.component];
    const std::uint32_t x = mcu_x * scan.h[b.of_scan] + b.x, y = mcu_y * scan.v[b.of_scan] + b.y;
    if (x < c.blocks_wide && y < c.blocks_high)
      return dc_of_frame(f)[c.first + y * c.blocks_wide + x] >> scan.al;
  }
}

/// Emits what the lane's block adds to a scan of DC.
template <typename Sink>
__device__ void walk_dc(const StoredFrames& f, const CodedScan& scan, const ScanLane& lane,
                        Sink& sink) {
  if (!lane.exists) return;
  const std::int32_t dc = dc_of_block(f, scan, lane.mcu, lane.in_mcu);
  if (scan.is_refinement()) {
    sink.bits(static_cast<std::uint32_t>(dc) & 1, 1);
    return;
  }
  const McuBlock& b = scan.block[lane.in_mcu];
  std::int32_t before = 0;
  if (b.wraps == 0 || lane.in_interval > 0)
    before = dc_of_block(f, scan, lane.mcu - b.wraps, b.predecessor);
  const Symbol symbol = make_symbol(0, dc - before, 0);
  sink.select(b.slot);
  sink.symbol(symbol.rrrrssss, symbol.appended, symbol.rrrrssss);
}

/// Emits what the lane's block adds to a scan of AC before the end of its band.
template <typename Sink>
__device__ void walk_ac(const StoredFrames& f, const CodedScan& scan, const BandBlock& b,
                        std::uint32_t block, Sink& sink) {
  const std::int16_t* const values = ac_of_block(f, block);
  if (scan.is_refinement())
    walk_refining_scan(b, scan.ss, scan.al, values, sink);
  else
    walk_first_scan(b, scan.ss, scan.al, values, sink);
}

}  // namespace zerorun::scan_lanes
