// Decode stage 1: entropy-coded segment -> clean bytes, cut at restart markers. Inverse:
// byte_stuff.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "codec/base/exec.hpp"

namespace zerorun {

/// The clean bytes between two restart markers.
struct EntropySegment {
  std::uint64_t first_byte;   ///< into `bytes`; the segment ends where the next one starts
  std::uint64_t source_byte;  ///< of its first byte in the input, for error messages
  /// The RSTm that ends it; 0 for the last segment. 64 bits avoid padding, whose undefined bytes
  /// would be copied from the device to the host.
  std::uint64_t marker;

  friend bool operator==(const EntropySegment&, const EntropySegment&) = default;
};

/// Reads up to the first marker other than RSTm, or to the end. FF 00 becomes FF; more FF before a
/// marker or before 00 are fill bytes (T.81 B.1.1.2) and are dropped.
struct ByteUnstuffArgs {
  const std::uint8_t* in;
  std::uint64_t in_bytes;
  std::uint8_t* bytes;       ///< out; capacity in_bytes
  EntropySegment* segments;  ///< out; capacity in_bytes / 2 + 2. [segment_total] ends the list: its
                             ///< first_byte is the number of clean bytes
  std::uint64_t* segment_total;   ///< one number, out; at least 1
  std::uint64_t* consumed_bytes;  ///< one number, out: offset of the marker's FF, or in_bytes
};

/// Offset of the first marker other than RSTm, with the FF before it, or the size of `data`: where
/// byte_unstuff stops.
std::size_t entropy_end(std::span<const std::uint8_t> data);

Status byte_unstuff_cpu(const ByteUnstuffArgs& args, Exec& exec);
Status byte_unstuff_cuda(const ByteUnstuffArgs& args, Exec& exec);

}  // namespace zerorun
