// The marker segments in front of the entropy-coded data.
// SPDX-License-Identifier: MIT
#include "codec/syntax/header_writer.hpp"

#include <numeric>

#include "codec/arith/zigzag.hpp"
#include "codec/syntax/bytes.hpp"
#include "codec/syntax/header_bytes.hpp"
#include "codec/syntax/marker.hpp"

namespace zerorun {
namespace {

using Bytes = std::vector<std::uint8_t>;

void put8(Bytes& out, int value) { put_bytes(static_cast<std::uint64_t>(value), 1, out); }
void put16(Bytes& out, int value) { put_bytes(static_cast<std::uint64_t>(value), 2, out); }

void put_jfif(Bytes& out, const EncodeParams& params) {
  put_segment(marker::kApp0, 14, out);
  for (const char c : {'J', 'F', 'I', 'F', '\0'}) put8(out, c);
  put16(out, 0x0101);  // version 1.01
  put8(out, 0);        // no unit: the two numbers are the aspect ratio of a pixel
  const int divisor = std::gcd(params.pixel_aspect_x, params.pixel_aspect_y);
  put16(out, params.pixel_aspect_x / divisor);
  put16(out, params.pixel_aspect_y / divisor);
  put16(out, 0);  // no thumbnail
}

void put_dqt(Bytes& out, int destination, const QuantTable& table) {
  put_segment(marker::kDqt, 1 + kBlockSize, out);
  put8(out, destination);
  for (const std::uint8_t natural : kNaturalOfZigzag) put8(out, table[natural]);
}

void put_dht(Bytes& out, const DhtSegment& segment, const HuffmanSpec& spec) {
  const int count = spec.count();
  for (int i = 0; i < kDhtLeadBytes + count; ++i) out.push_back(segment.byte(spec, count, i));
}

}  // namespace

HeaderPlaces write_header(const StreamHeader& header, Bytes& out) {
  out.clear();
  put16(out, 0xFF00 | marker::kSoi);
  if (header.params->jfif_header) put_jfif(out, *header.params);
  for (const MarkerSegment& segment : header.params->segments) {
    put_segment(segment.marker, segment.payload.size(), out);
    out.insert(out.end(), segment.payload.begin(), segment.payload.end());
  }
  HeaderPlaces places{};
  if (!header.setting.empty()) {
    put_segment(marker::kCom, header.setting.size(), out);
    places.setting = out.size();
    out.insert(out.end(), header.setting.begin(), header.setting.end());
  }
  const int destinations = header.components == 1 ? 1 : 2;
  for (int d = 0; d < destinations; ++d) {
    put_dqt(out, d, header.quant[static_cast<std::size_t>(d)]);
    places.dqt[static_cast<std::size_t>(d)] = out.size() - kBlockSize;
  }

  put_segment(marker::kSof0, 6 + 3 * static_cast<std::size_t>(header.components), out);
  put8(out, 8);
  put16(out, header.height);
  put16(out, header.width);
  put8(out, header.components);
  for (int c = 0; c < header.components; ++c) {
    put8(out, c + 1);
    put8(out, c == 0 ? header.h_max << 4 | header.v_max : 0x11);
    put8(out, c == 0 ? 0 : 1);
  }
  places.dht.begin = out.size();
  for (int n = 0; n < 2 * destinations; ++n) {
    const auto segment = DhtSegment::number(n);
    put_dht(out, segment, header.huffman[static_cast<std::size_t>(segment.table())]);
  }
  places.dht.end = out.size();
  if (header.restart_interval > 0) {
    put_segment(marker::kDri, 2, out);
    put16(out, header.restart_interval);
  }
  put_segment(marker::kSos, 4 + 2 * static_cast<std::size_t>(header.components), out);
  put8(out, header.components);
  for (int c = 0; c < header.components; ++c) {
    put8(out, c + 1);
    put8(out, c == 0 ? 0x00 : 0x11);
  }
  put8(out, 0);   // Ss
  put8(out, 63);  // Se
  put8(out, 0);   // Ah, Al
  return places;
}

}  // namespace zerorun
