// Second kernel of the fused encoder: the bits of the tiles -> the finished stream. It stands for
// byte_stuff, and writes the header and EOI around the scan.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include "codec/syntax/scan_index.hpp"
#include "cuda/encode/tile_grid.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

/// Where a coded frame goes. Memory that the device can write: its own, or pinned host memory.
struct FrameOutput {
  std::uint8_t* out;
  std::uint64_t capacity;  ///< nothing is written behind it
  std::uint64_t* size;     ///< of the whole output, also where it does not fit
};

/// All pointers are device memory. Tiles and chunks are those of all frames.
struct AssembleArgs {
  TileGrid grid;
  std::uint32_t frames;
  const std::uint32_t* words;            ///< [tiles][kTileWords]
  const std::uint32_t* tile_bits;        ///< [tiles]
  const std::uint32_t* chunk_bits;       ///< [chunks] sums of those
  const std::uint64_t* chunk_first_bit;  ///< [chunks] bits before a chunk in the scan; may be null
                                         ///< where an interval has few of them
  const std::uint8_t* header;            ///< SOI to SOS, with zeros instead of index entries
  std::uint32_t header_stride;           ///< to that of the next frame; 0: all have one
  const std::uint32_t* header_bytes;     ///< [frames], or one number where all have one; may be 0
  bool end_of_image;                     ///< EOI is written
  std::uint64_t* chunks;           ///< [chunks] what they tell each other; zero before the frame
  std::uint64_t* next_chunks;      ///< the same for the next launch: is cleared
  std::uint32_t* next_chunk_bits;  ///< likewise
  std::uint32_t next_frames;       ///< of how many frames these are in use
  /// The scan index, where the grid has groups: goes into the header, or where there is none, to
  /// `entries`, [frames][groups] in memory that the device can write.
  std::uint32_t* group_sums;  ///< as code_tiles() left them; are cleared for the next launch
  ScanIndexPlace index;
  IndexEntry* entries;
  FrameOutput output[kMaxFrames];
};

/// Where an interval has more chunks, summing them up in every CTA costs more than a scan before.
inline constexpr std::uint32_t kMaxSummedChunks = 2048;

Status assemble(const AssembleArgs& args, cudaStream_t stream);

}  // namespace zerorun
