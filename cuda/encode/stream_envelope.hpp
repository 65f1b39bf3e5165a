// What stands around a scan in its stream, for all kernels that write a part of it.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/arith/symbol.hpp"
#include "codec/syntax/header_bytes.hpp"

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

}  // namespace zerorun
