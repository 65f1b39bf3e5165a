// Big-endian numbers of marker segments.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace zerorun {

inline int be16(std::span<const std::uint8_t> bytes, std::size_t at) {
  return bytes[at] << 8 | bytes[at + 1];
}

/// Appends the low `count` bytes of `value`.
inline void put_bytes(std::uint64_t value, int count, std::vector<std::uint8_t>& out) {
  for (int b = count; b-- > 0;) out.push_back(static_cast<std::uint8_t>(value >> 8 * b));
}

/// Marker and length field of a segment; the length counts itself.
inline void put_segment(std::uint8_t code, std::size_t payload_bytes,
                        std::vector<std::uint8_t>& out) {
  put_bytes(std::uint64_t{0xFF00} | code, 2, out);
  put_bytes(payload_bytes + 2, 2, out);
}

}  // namespace zerorun
