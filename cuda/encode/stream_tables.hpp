// Code tables as the kernels look them up, and headers with the same tables as DHT segments. The
// device makes both, because optimal tables exist only there.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include "codec/encode/symbol_histogram.hpp"
#include "cuda/encode/code_table.hpp"
#include "cuda/encode/stream_envelope.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

/// All pointers are device memory; arrays have one element a frame.
struct StreamTablesArgs {
  std::uint32_t frames;               ///< 1 where all frames share their tables
  const HuffmanSpec* specs;           ///< [frames][kEncodeTables]
  const HuffmanEncodeTables* tables;  ///< made from them
  int destinations;                   ///< 1 or 2: a header has 2 DHT segments for each
  StreamEnvelope stream;              ///< out: its headers
  CodeTable* codes;                   ///< out
  SymbolCounts* counts;               ///< if not null, is cleared for the next launch
  const std::uint32_t* skip;          ///< if not null: where it is not 0, nothing is made
};

Status make_stream_tables(const StreamTablesArgs& args, cudaStream_t stream);

}  // namespace zerorun
