// The marker segments in front of the entropy-coded data.
// SPDX-License-Identifier: MIT
#include "codec/syntax/header_writer.hpp"

#include <algorithm>
#include <numeric>

#include "codec/arith/zigzag.hpp"
#include "codec/base/marker.hpp"
#include "codec/syntax/scan_layout.hpp"

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

}  // namespace

void put_dqt(int destination, const QuantTable& table, Bytes& out) {
  const bool is_wide = *std::max_element(table.begin(), table.end()) > 255;
  const int entry_bytes = is_wide ? 2 : 1;
  put_segment(marker::kDqt, 1 + kBlockSize * static_cast<std::size_t>(entry_bytes), out);
  put8(out, (is_wide ? 0x10 : 0) | destination);
  for (const std::uint8_t natural : kNaturalOfZigzag) put_bytes(table[natural], entry_bytes, out);
}

void put_sof(std::uint8_t code, int width, int height, std::span<const SofComponent> components,
             Bytes& out) {
  put_segment(code, 6 + 3 * components.size(), out);
  put8(out, 8);
  put16(out, height);
  put16(out, width);
  put8(out, static_cast<int>(components.size()));
  for (const SofComponent& component : components) {
    put8(out, component.id);
    put8(out, component.h << 4 | component.v);
    put8(out, component.quant_table);
  }
}

void put_dht(const DhtSegment& segment, const HuffmanSpec& spec, Bytes& out) {
  const int count = spec.count();
  for (int i = 0; i < kDhtLeadBytes + count; ++i) out.push_back(segment.byte(spec, count, i));
}

void put_dri(int restart_interval, Bytes& out) {
  put_segment(marker::kDri, 2, out);
  put16(out, restart_interval);
}

void put_sos(std::span<const SosComponent> components, int ss, int se, int ah, int al, Bytes& out) {
  put_segment(marker::kSos, 4 + 2 * components.size(), out);
  put8(out, static_cast<int>(components.size()));
  for (const SosComponent& component : components) {
    put8(out, component.id);
    put8(out, component.dc_table << 4 | component.ac_table);
  }
  put8(out, ss);
  put8(out, se);
  put8(out, ah << 4 | al);
}

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
    put_dqt(d, header.quant[static_cast<std::size_t>(d)], out);
    places.dqt[static_cast<std::size_t>(d)] = out.size() - kBlockSize;
  }

  const auto components = static_cast<std::size_t>(header.components);
  const SofComponent frame[kMaxComponents] = {
      {1, header.h_max, header.v_max, 0}, {2, 1, 1, 1}, {3, 1, 1, 1}};
  const SosComponent scan[kMaxComponents] = {{1, 0, 0}, {2, 1, 1}, {3, 1, 1}};
  put_sof(header.params->progressive ? marker::kSof2 : marker::kSof0, header.width, header.height,
          {frame, components}, out);
  places.dht = {out.size(), out.size()};
  if (header.params->progressive) return places;
  for (int n = 0; n < 2 * destinations; ++n) {
    const auto segment = DhtSegment::number(n);
    put_dht(segment, header.huffman[static_cast<std::size_t>(segment.table())], out);
  }
  places.dht.end = out.size();
  if (header.restart_interval > 0) put_dri(header.restart_interval, out);
  put_sos({scan, components}, 0, 63, 0, 0, out);
  return places;
}

}  // namespace zerorun
