// Marker codes (T.81 Table B.1), without the leading FF, and numbers of marker segments.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace zerorun::marker {

inline constexpr std::uint8_t kTem = 0x01;
inline constexpr std::uint8_t kSof0 = 0xC0, kSof1 = 0xC1, kSof2 = 0xC2;
inline constexpr std::uint8_t kDht = 0xC4, kJpg = 0xC8, kDac = 0xCC;
inline constexpr std::uint8_t kSof15 = 0xCF;
inline constexpr std::uint8_t kRst0 = 0xD0, kRst7 = 0xD7;
inline constexpr std::uint8_t kSoi = 0xD8, kEoi = 0xD9, kSos = 0xDA, kDqt = 0xDB;
inline constexpr std::uint8_t kDri = 0xDD, kDhp = 0xDE, kExp = 0xDF;
inline constexpr std::uint8_t kApp0 = 0xE0, kApp1 = 0xE1;
inline constexpr std::uint8_t kApp14 = 0xEE, kApp15 = 0xEF;
inline constexpr std::uint8_t kSof55 = 0xF7;  ///< JPEG-LS (T.87)
inline constexpr std::uint8_t kCom = 0xFE;

constexpr bool is_rst(std::uint8_t code) { return code >= kRst0 && code <= kRst7; }
constexpr bool is_app(std::uint8_t code) { return code >= kApp0 && code <= kApp15; }

}  // namespace zerorun::marker

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
