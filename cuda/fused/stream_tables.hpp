// Code tables as the kernels want them, and the header with the same tables as DHT segments: both
// made on the device, since optimal tables are known there alone.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include "codec/encode/symbol_histogram.hpp"
#include "cuda/fused/code_table.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

/// All pointers are device memory.
struct StreamTablesArgs {
  const HuffmanSpec* specs;           ///< [kEncodeTables]
  const HuffmanEncodeTables* tables;  ///< made from them
  int destinations;                   ///< 1 or 2: DHT segments are 2 a destination
  /// The header without DHT segments, which belong behind the first front_bytes. header_bytes 0:
  /// no header at all, the scan stands alone.
  const std::uint8_t* header;
  std::uint32_t front_bytes, header_bytes;
  CodeTable* codes;                      ///< out
  std::uint8_t* finished_header;         ///< out; header_bytes + kMaxDhtBytes
  std::uint32_t* finished_header_bytes;  ///< one number, out
  SymbolCounts* counts;                  ///< if not null, is cleared for the next frame
};

/// Of all DHT segments: marker, length, class and destination, BITS, HUFFVAL (T.81 B.2.4.2).
inline constexpr std::int64_t kMaxDhtBytes = kEncodeTables * (5 + kMaxCodeBits + 256);

Status make_stream_tables(const StreamTablesArgs& args, cudaStream_t stream);

}  // namespace zerorun
