// Code tables as the kernels want them, and the header with the same tables as DHT segments: both
// made on the device, since optimal tables are known there alone.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include "codec/arith/host_device.hpp"
#include "codec/encode/symbol_histogram.hpp"
#include "codec/syntax/scan_index.hpp"
#include "cuda/encode/code_table.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

/// All pointers are device memory; arrays have one element a frame.
struct StreamTablesArgs {
  std::uint32_t frames;
  const HuffmanSpec* specs;           ///< [frames][kEncodeTables]
  const HuffmanEncodeTables* tables;  ///< made from them
  int destinations;                   ///< 1 or 2: DHT segments are 2 a destination
  /// The header without DHT segments, which belong behind the first front_bytes. header_bytes 0:
  /// no header at all, the scan stands alone.
  const std::uint8_t* header;
  std::uint32_t front_bytes, header_bytes;
  ScanIndexPlace index;           ///< entries of the header that are not written; groups 0: none
  CodeTable* codes;               ///< out
  std::uint8_t* finished_header;  ///< out; header_bytes + kMaxDhtBytes each
  std::uint32_t* finished_header_bytes;  ///< out
  SymbolCounts* counts;                  ///< if not null, is cleared for the next launch
};

/// Of all DHT segments: marker, length, class and destination, BITS, HUFFVAL (T.81 B.2.4.2).
inline constexpr std::int64_t kMaxDhtBytes = kEncodeTables * (5 + kMaxCodeBits + 256);

/// From one finished header to that of the next frame.
ZR_HD std::uint32_t header_stride(std::uint32_t header_bytes) {
  return header_bytes + static_cast<std::uint32_t>(kMaxDhtBytes);
}

Status make_stream_tables(const StreamTablesArgs& args, cudaStream_t stream);

}  // namespace zerorun
