// Takes streams apart into marker segments.
// SPDX-License-Identifier: MIT
#include "tests/support/jpeg_segments.hpp"

#include <algorithm>
#include <stdexcept>

namespace zerorun::test {
namespace {

constexpr std::uint8_t kSos = 0xDA, kDqt = 0xDB, kDht = 0xC4, kDri = 0xDD;

std::uint8_t at(std::span<const std::byte> jpeg, std::size_t offset) {
  if (offset >= jpeg.size()) throw std::runtime_error("the test stream ends inside its headers");
  return std::to_integer<std::uint8_t>(jpeg[offset]);
}

void read_quant_tables(const std::vector<std::uint8_t>& payload, Tables& out) {
  for (std::size_t i = 0; i < payload.size();) {
    const int precision = payload[i] >> 4, destination = payload[i] & 15;
    ++i;
    for (std::uint16_t& entry : out.quant[destination]) {
      entry = payload.at(i++);
      if (precision == 1) entry = static_cast<std::uint16_t>(entry << 8 | payload.at(i++));
    }
  }
}

void read_huffman_tables(const std::vector<std::uint8_t>& payload, Tables& out) {
  for (std::size_t i = 0; i < payload.size();) {
    HuffmanSpec& spec = out.huffman[{payload[i] >> 4, payload[i] & 15}];
    ++i;
    std::size_t symbols = 0;
    for (std::uint8_t& count : spec.bits) symbols += count = payload.at(i++);
    spec.values.clear();
    for (std::size_t s = 0; s < symbols; ++s) spec.values.push_back(payload.at(i++));
  }
}

}  // namespace

const Segment* Headers::find(std::uint8_t marker) const {
  const auto found = std::find_if(segments.begin(), segments.end(),
                                  [&](const Segment& s) { return s.marker == marker; });
  return found == segments.end() ? nullptr : &*found;
}

std::size_t Headers::count(std::uint8_t marker) const {
  return static_cast<std::size_t>(std::count_if(
      segments.begin(), segments.end(), [&](const Segment& s) { return s.marker == marker; }));
}

Headers parse_headers(std::span<const std::byte> jpeg) {
  Headers out;
  if (at(jpeg, 0) != 0xFF || at(jpeg, 1) != 0xD8) throw std::runtime_error("no SOI");
  for (std::size_t i = 2;;) {
    if (at(jpeg, i) != 0xFF) throw std::runtime_error("no marker where one was expected");
    Segment segment;
    segment.offset = i;
    segment.marker = at(jpeg, i + 1);
    const std::size_t length = static_cast<std::size_t>(at(jpeg, i + 2) << 8 | at(jpeg, i + 3));
    for (std::size_t k = 2; k < length; ++k) segment.payload.push_back(at(jpeg, i + 2 + k));
    i += 2 + length;
    const bool last = segment.marker == kSos;
    if (last) out.sos_offset = segment.offset;
    out.segments.push_back(std::move(segment));
    if (last) {
      out.data_offset = i;
      return out;
    }
  }
}

Tables parse_tables(const Headers& headers) {
  Tables out;
  for (const Segment& segment : headers.segments) {
    if (segment.marker == kDqt) read_quant_tables(segment.payload, out);
    if (segment.marker == kDht) read_huffman_tables(segment.payload, out);
    if (segment.marker == kDri)
      out.restart_interval = segment.payload.at(0) << 8 | segment.payload.at(1);
  }
  return out;
}

std::span<const std::byte> from_sos(std::span<const std::byte> jpeg) {
  return jpeg.subspan(parse_headers(jpeg).sos_offset);
}

Bytes without_segments(std::span<const std::byte> jpeg, std::uint8_t marker) {
  Bytes out(jpeg.begin(), jpeg.begin() + 2);
  for (const Segment& segment : parse_headers(jpeg).segments) {
    if (segment.marker == kSos) {
      out.insert(out.end(), jpeg.begin() + static_cast<std::ptrdiff_t>(segment.offset), jpeg.end());
    } else if (segment.marker != marker) {
      const auto first = jpeg.begin() + static_cast<std::ptrdiff_t>(segment.offset);
      out.insert(out.end(), first, first + static_cast<std::ptrdiff_t>(segment.payload.size() + 4));
    }
  }
  return out;
}

Bytes with_inserted(std::span<const std::byte> jpeg, std::size_t offset,
                    std::span<const std::uint8_t> what) {
  Bytes out(jpeg.begin(), jpeg.begin() + static_cast<std::ptrdiff_t>(offset));
  for (const std::uint8_t byte : what) out.push_back(std::byte{byte});
  out.insert(out.end(), jpeg.begin() + static_cast<std::ptrdiff_t>(offset), jpeg.end());
  return out;
}

std::vector<std::uint8_t> make_segment(std::uint8_t marker,
                                       const std::vector<std::uint8_t>& payload) {
  const std::size_t length = payload.size() + 2;
  std::vector<std::uint8_t> out(2 + length);
  out[0] = 0xFF;
  out[1] = marker;
  out[2] = static_cast<std::uint8_t>(length >> 8);
  out[3] = static_cast<std::uint8_t>(length & 255);
  std::copy(payload.begin(), payload.end(), out.begin() + 4);
  return out;
}

}  // namespace zerorun::test
