// Runs SizePlan on the device: counts symbols with one setting after another until the plan wants
// the picture coded, and makes the tables for that.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include "cuda/encode/code_tiles.hpp"
#include "cuda/encode/size_tables.hpp"

namespace zerorun {

/// What is kept of a plan from one search to the next. Plain data.
struct SizeState {
  SizePlan plan;
  std::uint32_t slot;  ///< of SearchSizeArgs::counts that comes next
};

/// All pointers are device memory, but `size` and `outcome` may be pinned.
struct SearchSizeArgs {
  CodeTilesArgs counted;  ///< layout, grid and planes of what is counted
  const SizeTables* tables;
  bool starts;      ///< the first search of the picture
  bool is_optimal;  ///< Huffman tables
  /// `after` is not `before`: all CTAs read the one, and the first to end writes the other.
  const SizeState* before;
  SizeState* after;
  SymbolCounts* counts;        ///< [3], zero before the first search
  const std::uint64_t* coded;  ///< bytes of the last coding
  /// Out: what the coding needs that follows.
  std::uint32_t* skip;  ///< 1: there is none, the plan is done
  ReciprocalTables* reciprocals;
  TuneRules* tune;
  HuffmanSpec* specs;          ///< [kEncodeTables]; null where they stay the same
  HuffmanEncodeTables* codes;  ///< likewise
  /// Two copies of a header, in which the setting is written.
  std::uint8_t* header[2];
  std::uint32_t dqt_at[2], tables_in_header;
  std::uint32_t note_at;  ///< 0: there is none
  /// Out, when the plan is done.
  std::uint64_t* size;   ///< bytes of the stream; 0: it is not reached
  SizedCoding* outcome;  ///< may be null
};

Status search_size(const SearchSizeArgs& args, cudaStream_t stream);

}  // namespace zerorun
