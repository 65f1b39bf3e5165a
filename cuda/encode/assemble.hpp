// Second kernel of the encoder: the bits of the tiles -> the finished stream. It does the work of
// the stage byte_stuff and writes the header and EOI around the scan.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include "cuda/encode/stream_tables.hpp"
#include "cuda/encode/tile_grid.hpp"
#include "cuda/encode/tuning.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

/// Where a coded frame goes. Memory that the device can write: its own, or pinned host memory.
struct FrameOutput {
  std::uint8_t* out;
  std::uint64_t capacity;  ///< nothing is written from here on
  std::uint64_t* size;     ///< out: bytes of the whole stream, also where it does not fit
};

/// All pointers are device memory. Arrays of tiles and chunks have those of all frames.
struct AssembleArgs {
  TileGrid grid;
  std::uint32_t frames;
  const std::uint32_t* words;       ///< [tiles][kTileWords]
  const std::uint32_t* tile_bits;   ///< [tiles]
  const std::uint32_t* chunk_bits;  ///< [chunks] sums of those
  StreamEnvelope stream;
  std::uint64_t* chunks;           ///< [chunks] look-back states; zero before the launch
  std::uint64_t* next_chunks;      ///< those of the next launch, which this one clears
  std::uint32_t* next_chunk_bits;  ///< likewise
  std::uint32_t next_frames;       ///< frames whose part of these is not clear
  const std::uint32_t* skip;       ///< if not null: where it is not 0, nothing is written
  FrameOutput output[kMaxFrames];
};

Status assemble(const AssembleArgs& args, cudaStream_t stream);

}  // namespace zerorun
