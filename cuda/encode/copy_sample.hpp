// The tiles of SampleGrid from the component planes of a frame -> the planes of a small picture
// whose symbols are counted: the twin of sample_tiles().
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include "codec/pipeline/sample_tiles.hpp"
#include "cuda/encode/code_tiles.hpp"

namespace zerorun {

/// All pointers are device memory.
struct CopySampleArgs {
  SampleGrid grid;
  int components;
  /// Of each component: samples of a tile along its edges.
  int tile_wide[kMaxComponents], tile_high[kMaxComponents];
  PlanePlace from[kMaxComponents];
  std::uint8_t* to[kMaxComponents];  ///< rows follow each other; aligned to 8
};

Status copy_sample(const CopySampleArgs& args, cudaStream_t stream);

}  // namespace zerorun
