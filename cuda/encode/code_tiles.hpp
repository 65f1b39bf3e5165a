// First kernel of the encoder: samples -> the bits of each tile. It does the work of the stages
// fdct_quant, dc_diff, zero_run, huffman_encode and bit_pack.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include "codec/arith/tune.hpp"
#include "codec/encode/symbol_histogram.hpp"
#include "cuda/encode/code_table.hpp"
#include "cuda/encode/tile_grid.hpp"
#include "cuda/encode/tuning.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

/// quant_reciprocal() of the entries of two tables, column after column. Vectors of luma and of
/// chroma take turns: lanes of a warp that read both at once find them in different banks.
struct alignas(16) ReciprocalTables {
  static constexpr int kVector = 4;  ///< rows
  float vector[kBlockSize / kVector][2][kVector];

  ZR_HD float& at(int table, int x, int y) {
    return vector[(x * kBlockEdge + y) / kVector][table][y % kVector];
  }
};

inline constexpr std::uint32_t kDenseTile = 0xFFFFFFFF;

/// A component's samples.
struct PlanePlace {
  const std::uint8_t* data;
  std::ptrdiff_t stride_bytes;
};

/// All pointers are device memory.
struct CodeTilesArgs {
  ScanLayout layout;
  TileGrid grid;
  std::uint32_t frames;
  bool own_codes;  ///< each frame has its own table; else all share the first
  PlanePlace plane[kMaxFrames][kMaxComponents];
  std::int32_t width[2], height[2];  ///< samples of the planes of luma and of chroma
  const ReciprocalTables* reciprocals;
  const TuneRules* tune;      ///< null: all coefficients are rounded
  const CodeTable* codes;     ///< [frames], or one; not read by collect_tiles()
  std::uint32_t* words;       ///< [tiles][kTileWords] out: the tile's bits, the first one highest,
                              ///< then zeros up to the end of the word
  std::uint32_t* tile_bits;   ///< [tiles] out
  std::uint32_t* chunk_bits;  ///< [chunks] the bits of the tiles are added to it
  /// From collect_tiles() to code_collected_tiles(), else null.
  std::uint32_t* items;       ///< [tiles][kTileItems]
  std::uint32_t* item_count;  ///< [tiles], kDenseTile where they do not fit
  const std::uint32_t* skip;  ///< if not null: where it is not 0, nothing is coded
};

/// Samples -> bits.
Status code_tiles(const CodeTilesArgs& args, cudaStream_t stream);

/// For optimal tables. The first turns samples into items and adds their symbols to counts[frames];
/// the second turns items into bits, and clears counts[frames] for the next launch.
Status collect_tiles(const CodeTilesArgs& args, SymbolCounts* counts, cudaStream_t stream);
Status code_collected_tiles(const CodeTilesArgs& args, SymbolCounts* counts, cudaStream_t stream);

}  // namespace zerorun
