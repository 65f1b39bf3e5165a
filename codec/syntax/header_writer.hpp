// The marker segments in front of the entropy-coded data (T.81 Annex B), in libjpeg's order.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "codec/syntax/header_bytes.hpp"
#include "codec/syntax/tables.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun {

struct StreamHeader {
  int width, height;
  int components;  ///< 1 or 3; ids 1, 2, 3
  int h_max, v_max;
  const EncodeParams* params;  ///< JFIF, aspect, segments
  std::array<QuantTable, 2> quant;
  std::array<HuffmanSpec, 4> huffman;  ///< by class * 2 + destination
  int restart_interval;
  std::string setting;  ///< of a COM segment; empty: none
};

/// Where the DHT segments lie in a header. Everything else in it is known before the frame is
/// coded.
struct HuffmanPlace {
  std::size_t begin, end;
};

struct HeaderPlaces {
  HuffmanPlace dht;
  std::array<std::size_t, 2> dqt;      ///< of the entries of each table; in front of `dht`
  std::optional<std::size_t> setting;  ///< of StreamHeader::setting; likewise
};

/// SOI to SOS, or to SOF where the stream is progressive. `out` is replaced.
HeaderPlaces write_header(const StreamHeader& header, std::vector<std::uint8_t>& out);

struct SofComponent {
  int id, h, v, quant_table;
};
struct SosComponent {
  int id, dc_table, ac_table;
};

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

/// Segments, appended to `out`. The entries of `table` are in natural order; those above 255 make
/// it one of 16 bits.
void put_dqt(int destination, const QuantTable& table, std::vector<std::uint8_t>& out);
void put_sof(std::uint8_t code, int width, int height, std::span<const SofComponent> components,
             std::vector<std::uint8_t>& out);
void put_dht(const DhtSegment& segment, const HuffmanSpec& spec, std::vector<std::uint8_t>& out);
void put_dri(int restart_interval, std::vector<std::uint8_t>& out);
void put_sos(std::span<const SosComponent> components, int ss, int se, int ah, int al,
             std::vector<std::uint8_t>& out);

}  // namespace zerorun
