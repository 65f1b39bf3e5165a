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

/// All pointers are device memory.
struct StreamTablesArgs {
  const HuffmanSpec* specs;           ///< [kEncodeTables]
  const HuffmanEncodeTables* tables;  ///< made from them
  int destinations;                   ///< 1 or 2: a header has 2 DHT segments for each
  StreamEnvelope stream;              ///< out: its header
  CodeTable* codes;                   ///< out
  const std::uint32_t* skip;          ///< if not null: where it is not 0, nothing is made
};

/// For all frames, which share fixed tables.
Status make_stream_tables(const StreamTablesArgs& args, cudaStream_t stream);

/// All pointers are device memory; arrays have one element a frame.
struct OptimalTablesArgs {
  std::uint32_t frames;
  const SymbolCounts* counts;
  HuffmanSpec* specs;         ///< [frames][kEncodeTables] out: what optimal_huffman_spec() gives
  int destinations;           ///< 1 or 2: a header has 2 DHT segments for each
  StreamEnvelope stream;      ///< out: its headers
  CodeTable* codes;           ///< out, but for words that no symbol has
  const std::uint32_t* skip;  ///< if not null: where it is not 0, nothing is made
};

/// Tables from statistics.
Status make_optimal_tables(const OptimalTablesArgs& args, cudaStream_t stream);

}  // namespace zerorun
