// Sizes that the GPU encoder may choose freely: they change its speed, never its bytes. Each has
// the measurement that chose it, on an H200. All GPUs get the same sizes; bounded_ctas() fits the
// CTAs of a processor to its limits.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace zerorun {

// Of a launch

/// Tiles of a chunk. At q90 a tile of 4:2:0 has some 300 bytes.
inline constexpr int kChunkTiles = 16;

/// The most frames of one launch, each with 72 bytes of the 4 KiB for a kernel's parameters.
/// 256x256 frames take 1.8, 0.5 and 0.3 us each by 4, 16 and 32.
inline constexpr int kMaxFrames = 32;
/// Small frames are coded together up to this many blocks, which bounds the memory. 1920x1080
/// frames, of 48,960, take 6.0 us each by fours and 6.3 by fives.
inline constexpr std::int64_t kLaunchBlocks = std::int64_t{1} << 18;

// code_tiles()

/// Items of a tile (code_items.cuh) that are kept, 54 a block; a tile with more is coded block by
/// block. One of the numbers that items_of_lane() gives.
inline constexpr int kTileItems = 1728;
inline constexpr int kCodeTilesWarps = 4;
/// CTAs on a processor: 20 warps with 96 registers. 4K q90, us a frame in four streams: 24.2; 24
/// warps with 80 registers, some spilled, 24.1; 28 with 72, 25.6.
inline constexpr int kCodeTilesCtas = 5;
/// The same of search_size, whose CTAs walk over several tiles each. A 4K photo to 2 MB, us a frame
/// in sixteen streams and alone, with 48 CTAs in all: 87 and 221; with 24: 83 and 242.
inline constexpr int kSearchSizeCtas = 4;
/// The same of code_tiles and code_collected_tiles, tuned, on compute capability 10.0: with 5 they
/// spill 8 and 4 bytes there.
inline constexpr int kTunedCtas10 = 4;
/// Words of a lane that are kept. If a lane has more, the tile's items are coded a second time.
inline constexpr int kKeptWords = 18;

// store_blocks()

/// The same: the kernel keeps the coefficients of a block until all of them are stored.
inline constexpr int kStoreBlocksCtas = 4;
/// Of the kernels behind it. With more CTAs threads spill registers, but not on Hopper, where
/// code_scans() was measured with 5.
inline constexpr int kCountScansCtas = 5, kCodeScansCtas = 4, kCodeScansCtas9 = 5;

// assemble()

/// Small CTAs that need few registers: they mostly wait, and fit beside those of code_tiles.
/// 1920x1080 q90, us a frame of eight, with 192 threads and 12 tiles, 256 and 16, 320 and 20, 384
/// and 24: 5.15, 5.08, 5.18, 5.24.
inline constexpr int kAssembleThreads = 256;
inline constexpr int kAssembleCtas = 8;
inline constexpr int kAssembleWordsPerThread = 8;
/// The same of assemble_scans(), which needs more registers.
inline constexpr int kAssembleScansCtas = 6;

}  // namespace zerorun
