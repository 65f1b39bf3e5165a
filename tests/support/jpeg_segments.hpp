// Takes well-formed streams apart into marker segments and changes them, independently of the
// codec's parser.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace zerorun::test {

using Bytes = std::vector<std::byte>;

struct Segment {
  std::uint8_t marker = 0;
  std::size_t offset = 0;             ///< of the 0xFF
  std::vector<std::uint8_t> payload;  ///< without the length field
};

/// Everything between SOI and the first entropy-coded byte, SOS included.
struct Headers {
  std::vector<Segment> segments;
  std::size_t sos_offset = 0;   ///< of the first SOS marker
  std::size_t data_offset = 0;  ///< of the first entropy-coded byte

  const Segment* find(std::uint8_t marker) const;
  std::size_t count(std::uint8_t marker) const;
};

Headers parse_headers(std::span<const std::byte> jpeg);

/// Tables as the headers define them, by destination.
struct HuffmanSpec {
  std::array<std::uint8_t, 16> bits{};
  std::vector<std::uint8_t> values;
  bool operator==(const HuffmanSpec&) const = default;
};
struct Tables {
  std::map<int, std::array<std::uint16_t, 64>> quant;  ///< zig-zag order
  std::map<std::pair<int, int>, HuffmanSpec> huffman;  ///< by class and destination
  int restart_interval = 0;                            ///< of the last DRI
  bool operator==(const Tables&) const = default;
};
Tables parse_tables(const Headers& headers);

/// The stream from the first SOS marker on.
std::span<const std::byte> from_sos(std::span<const std::byte> jpeg);

/// Changed copies.
Bytes without_segments(std::span<const std::byte> jpeg, std::uint8_t marker);
Bytes with_inserted(std::span<const std::byte> jpeg, std::size_t offset,
                    std::span<const std::uint8_t> what);

/// A marker segment with its marker and length.
std::vector<std::uint8_t> make_segment(std::uint8_t marker,
                                       const std::vector<std::uint8_t>& payload);

}  // namespace zerorun::test
