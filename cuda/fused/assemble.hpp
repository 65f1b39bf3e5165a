// Second kernel of the fused encoder: the bits of the tiles -> the finished stream. It stands for
// byte_stuff, and writes the header and EOI around the scan.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include "cuda/fused/tile_grid.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

/// All pointers are device memory.
struct AssembleArgs {
  TileGrid grid;
  const std::uint32_t* words;            ///< [tiles][kTileWords]
  const std::uint32_t* tile_bits;        ///< [tiles]
  const std::uint32_t* chunk_bits;       ///< [chunks] sums of those
  const std::uint64_t* chunk_first_bit;  ///< [chunks] bits before a chunk in the scan; may be null
                                         ///< where an interval has few of them
  const std::uint8_t* header;            ///< SOI to SOS
  const std::uint32_t* header_bytes;     ///< one number, may be 0
  bool end_of_image;                     ///< EOI is written
  std::uint64_t* chunks;           ///< [chunks] what they tell each other; zero before the frame
  std::uint64_t* next_chunks;      ///< the same for the next frame: is cleared
  std::uint32_t* next_chunk_bits;  ///< likewise
  std::uint8_t* out;
  std::uint64_t capacity;  ///< nothing is written from here on
  std::uint64_t* size;     ///< of the whole stream, out
};

/// Where an interval has more chunks, summing them up in every CTA costs more than a scan before.
inline constexpr std::uint32_t kMaxSummedChunks = 2048;

Status assemble(const AssembleArgs& args, cudaStream_t stream);

}  // namespace zerorun
