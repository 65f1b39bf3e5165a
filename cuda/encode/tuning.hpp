// Sizes that the GPU encoder may choose freely: they change its speed, never its bytes. Each has
// the measurement that chose it, where one was made; on an H200 where no other chip is named. A
// chip that nobody measured gets the same sizes. For how many CTAs of a processor the compiler
// leaves registers follows from its limits (bounded_ctas()).
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace zerorun {

// Of a launch

/// Tiles of a chunk. At q90 a tile of 4:2:0 has some 300 bytes.
inline constexpr int kChunkTiles = 16;

/// The most frames of one launch. 256x256 frames take 1.8, 0.5 and 0.3 us each by 4, 16 and 32
/// (H200). A frame takes 72 bytes of the kernels' parameters, which may have 4 KiB.
inline constexpr int kMaxFrames = 32;
/// Small frames are coded together up to this many blocks, which bounds the memory. A
/// 3840x2160 frame of 4:2:0 has 194,400; 1920x1080 frames take 6.0 us each by fours and 6.3 by
/// fives (H200).
inline constexpr std::int64_t kLaunchBlocks = std::int64_t{1} << 18;

// code_tiles()

/// Items of a tile (code_items.cuh) that are kept, 54 a block: one of the numbers that
/// items_of_lane() gives. A tile with more is dense and is coded block by block, which is slower.
inline constexpr int kTileItems = 1728;
inline constexpr int kCodeTilesWarps = 4;
/// CTAs on a processor: 20 warps with 96 registers. 4K q90 on an H200, us a frame in four streams
/// and one frame alone: 24.2 and 43.1; 24 warps with 80 registers, some of them spilled, 24.1
/// and 43.2; 28 with 72, 25.6 and 46.5.
inline constexpr int kCodeTilesCtas = 5;
/// The same of count_tiles, which spills 20 bytes with 96 registers.
inline constexpr int kCountTilesCtas = 4;
/// The same of search_size, which walks over several tiles. A 4K photo of 2 MB, us a frame in
/// sixteen streams and one frame alone, with a CTA for four of its sample's 190 tiles (48): 87 and
/// 221; with 24 CTAs 83 and 242.
inline constexpr int kSearchSizeCtas = 4;
/// The same of code_tiles and code_collected_tiles tuned on compute capability 10.0, which spill 8
/// and 4 bytes there.
inline constexpr int kTunedCtas10 = 4;
/// Words of a lane that are kept. If a lane has more, the tile's items are coded a second time.
inline constexpr int kKeptWords = 18;

// assemble()

/// Small CTAs that need few registers. They mostly wait for memory and for each other, and fit
/// beside those of code_tiles. Frames at q90 on an H200, one of eight and one alone, in us, with
/// 192 threads and 12 tiles, 256 and 16, 320 and 20, 384 and 24: 1920x1080 5.15 and 20.4, 5.08 and
/// 20.3, 5.18 and 19.8, 5.24 and 19.8; 3840x2160 19.2 and 35.3, 19.2 and 35.3, 19.7 and 34.6, 19.9
/// and 34.8; at q98 29.2 and 49.2, 29.4 and 50.1, 29.6 and 50.3, 30.8 and 51.4. Many frames of
/// 1920x1080 decided.
inline constexpr int kAssembleThreads = 256;
inline constexpr int kAssembleCtas = 8;
inline constexpr int kAssembleWordsPerThread = 8;
/// Where an interval has more chunks, it is faster to scan their sums first than to add them up in
/// every CTA.
inline constexpr std::uint32_t kMaxSummedChunks = 2048;

}  // namespace zerorun
