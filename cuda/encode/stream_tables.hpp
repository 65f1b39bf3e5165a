// Code tables as the kernels look them up, and headers with the same tables as DHT segments. The
// device makes both, because optimal tables exist only there.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "codec/arith/symbol.hpp"
#include "codec/encode/symbol_histogram.hpp"
#include "codec/syntax/header_bytes.hpp"
#include "cuda/encode/code_table.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

/// Bytes of all DHT segments of a frame at most.
inline constexpr std::uint32_t kMaxDhtBytes = kEncodeTables * (kDhtLeadBytes + 256);

/// A stream is header, scan and EOI, where parts_bytes > 0; else it is the scan alone. Frames that
/// share their Huffman tables share the header. All pointers are device memory. Plain data.
struct StreamEnvelope {
  const std::uint8_t* parts;  ///< SOI to SOS without DHT segments
  std::uint32_t parts_bytes;
  std::uint32_t dht_at;         ///< where the DHT segments belong in `parts`
  std::uint8_t* header;         ///< made by make_stream_tables()
  std::uint32_t* header_bytes;  ///< a number for each header
  std::uint32_t stride;         ///< from a frame's header to the next one; 0: all frames share one
};

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
