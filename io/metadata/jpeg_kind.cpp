// What kind of JPEG stream it is, and the tables that it needs to be a file of its own.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>

#include "io/metadata/metadata.hpp"
#include "io/samples/pixel_pack.hpp"
#include "zerorun/content.hpp"
#include "zerorun/zerorun.hpp"

namespace zerorun::io {
namespace {

using namespace std::string_view_literals;

/// SOF and the header of JPEG-LS.
bool is_frame_header(std::uint8_t marker) noexcept {
  return marker == 0xF7 ||
         ((marker & 0xF0) == 0xC0 && marker != 0xC4 && marker != 0xC8 && marker != 0xCC);
}

/// T.81 table B.1: SOF4 and above are differential, SOF8 and above arithmetic.
std::string process_of(std::uint32_t code) {
  constexpr const char* kPlain[] = {"baseline", "extended sequential", "progressive", "lossless"};
  constexpr const char* kCoding[] = {"", "hierarchical", "arithmetic", "hierarchical arithmetic"};
  constexpr const char* kProcess[] = {"", "", " progressive", " lossless"};
  if (code == 0xF7) return "JPEG-LS";
  if (code < 0xC4) return kPlain[code & 3];
  return std::string(kCoding[code >> 2 & 3]) + kProcess[code & 3];
}

/// libjpeg's rules; the value of Adobe's APP14 is its colour transform, -1 if there is none.
std::string color_of(int components, int adobe_transform, bool has_jfif) {
  if (components == 1) return "gray";
  if (components == 4) return adobe_transform == 2 ? "YCCK" : "CMYK";
  return adobe_transform == 0 && !has_jfif ? "RGB" : "YCbCr";
}

/// The DHT segments of a stream with the standard tables, from zerorun's own encoder.
std::vector<std::byte> standard_tables() {
  EncodeParams params;
  params.backend = Backend::cpu;
  params.threads = 1;
  auto encoder = Encoder::create(params);
  Frame frame;
  std::vector<std::byte> jpeg, tables;
  if (!encoder || !frame.reshape(PixelFormat::yuv444p, 8, 8)) return tables;
  for (int plane = 0; plane < 3; ++plane)
    for (int row = 0; row < 8; ++row) std::memset(row_of(frame.view(), plane, row), 128, 8);
  if (!encoder->encode(std::as_const(frame).view(), jpeg)) return tables;
  for (const JpegSegment& segment : segments_to_scan(as_u8(jpeg))) {
    const auto raw = std::span(jpeg).subspan(segment.at, segment.bytes());
    if (segment.marker == kDht) tables.insert(tables.end(), raw.begin(), raw.end());
  }
  return tables;
}

}  // namespace

std::optional<JpegKind> jpeg_kind(std::span<const std::byte> jpeg) {
  const ByteSpan bytes = as_u8(jpeg);
  if (!starts_with(bytes, "\xFF\xD8"sv)) return std::nullopt;
  int transform = -1;
  bool has_jfif = false;
  for (const JpegSegment& segment : segments_to_scan(bytes)) {
    const ByteSpan payload = segment.payload;
    has_jfif |= segment.is(kApp0, "JFIF");
    if (segment.is(kApp14, "Adobe") && payload.size() >= 12) transform = payload[11];
    if (!is_frame_header(segment.marker)) continue;
    if (payload.size() < 6) break;
    JpegKind kind;
    kind.process = process_of(segment.marker);
    kind.bits = payload[0];
    kind.height = payload[1] << 8 | payload[2];
    kind.width = payload[3] << 8 | payload[4];
    kind.components = payload[5];
    kind.color = color_of(kind.components, transform, has_jfif);
    return kind;
  }
  return std::nullopt;
}

bool has_end_of_image(std::span<const std::byte> jpeg) {
  constexpr std::array kEoi{std::byte{0xFF}, std::byte{0xD9}};
  const auto segments = segments_to_scan(as_u8(jpeg));
  if (segments.empty() || segments.back().marker != kSos) return false;
  const auto rest = jpeg.subspan(segments.back().at);  // from the end, where it usually is
  return std::search(rest.rbegin(), rest.rend(), kEoi.rbegin(), kEoi.rend()) != rest.rend();
}

std::vector<std::byte> with_huffman_tables(std::span<const std::byte> jpeg) {
  std::vector<std::byte> whole(jpeg.begin(), jpeg.end());
  const auto segments = segments_to_scan(as_u8(jpeg));
  const bool has_scan = !segments.empty() && segments.back().marker == kSos;
  if (!has_scan || std::ranges::find(segments, kDht, &JpegSegment::marker) != segments.end())
    return whole;
  static const std::vector<std::byte> kTables = standard_tables();
  whole.insert(whole.begin() + static_cast<std::ptrdiff_t>(segments.back().at), kTables.begin(),
               kTables.end());
  return whole;
}

}  // namespace zerorun::io
