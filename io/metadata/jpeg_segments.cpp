// Picture content as segments of JPEG streams, and what a stream needs to be a file of its own.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cstring>

#include "codec/arith/integer.hpp"
#include "io/metadata/bytes.hpp"
#include "io/pixel_pack.hpp"
#include "zerorun/content.hpp"
#include "zerorun/zerorun.hpp"

namespace zerorun::io {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kMaxPayload = 65533;  // T.81 B.1.1.4: the length field counts itself
constexpr std::uint8_t kApp0 = 0xE0, kApp1 = 0xE1, kApp2 = 0xE2;

std::vector<std::uint8_t> joined(std::string_view id, ByteSpan bytes) {
  std::vector<std::uint8_t> payload(id.begin(), id.end());
  payload.insert(payload.end(), bytes.begin(), bytes.end());
  return payload;
}

void add_single(std::string_view id, ByteSpan bytes, const char* what,
                std::vector<MarkerSegment>& segments, std::string* left_out) {
  if (bytes.empty()) return;
  if (id.size() + bytes.size() <= kMaxPayload)
    segments.push_back({kApp1, joined(id, bytes)});
  else if (left_out != nullptr)
    *left_out += (left_out->empty() ? "" : " and ") + std::string(what);
}

/// At most 65519 profile bytes a segment (ICC.1 B.4).
void add_profile(ByteSpan icc, std::vector<MarkerSegment>& segments, std::string* left_out) {
  constexpr auto kId = "ICC_PROFILE\0"sv;
  const std::size_t room = kMaxPayload - kId.size() - 2;
  const std::size_t count = ceil_div(icc.size(), room);
  if (count > 255 && left_out != nullptr)
    *left_out += (left_out->empty() ? "" : " and ") + std::string("the ICC profile");
  for (std::size_t i = 0; i < count && count <= 255; ++i) {
    MarkerSegment segment{kApp2, {kId.begin(), kId.end()}};
    segment.payload.push_back(static_cast<std::uint8_t>(i + 1));
    segment.payload.push_back(static_cast<std::uint8_t>(count));
    const ByteSpan bytes = icc.subspan(i * room, std::min(room, icc.size() - i * room));
    segment.payload.insert(segment.payload.end(), bytes.begin(), bytes.end());
    segments.push_back(std::move(segment));
  }
}

/// The place of the first marker after `at` that is a frame header or SOS; 0 if there is none.
/// `has_tables` becomes true if a DHT comes before.
std::uint64_t find_header(ByteSpan jpeg, bool until_scan, bool& has_tables) {
  for (std::uint64_t at = 2;;) {
    const auto marker = number(jpeg, at, 2, false), bytes = number(jpeg, at + 2, 2, false);
    if (!bytes) return 0;
    const std::uint32_t code = *marker & 0xFF;
    if (*marker >> 8 != 0xFF || code == 0 || code == 0xFF) {
      ++at;
      continue;
    }
    const bool is_frame =
        code >= 0xC0 && code <= 0xCF && code != 0xC4 && code != 0xC8 && code != 0xCC;
    has_tables |= code == 0xC4;
    if (until_scan ? code == 0xDA : is_frame || code == 0xF7) return at;
    if (code == 0xDA || *bytes < 2) return 0;
    at += 2 + std::uint64_t{*bytes};
  }
}

const char* process_of(std::uint32_t code) {
  constexpr std::array kNames{"baseline",
                              "extended sequential",
                              "progressive",
                              "lossless",
                              "",
                              "hierarchical",
                              "hierarchical progressive",
                              "hierarchical lossless",
                              "",
                              "arithmetic",
                              "arithmetic progressive",
                              "arithmetic lossless",
                              "",
                              "hierarchical arithmetic",
                              "hierarchical arithmetic progressive",
                              "hierarchical arithmetic lossless"};
  return code == 0xF7 ? "JPEG-LS" : kNames[code & 15];
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
  const ByteSpan bytes = as_u8(jpeg);
  for (std::uint64_t at = 2;;) {
    const auto marker = number(bytes, at, 2, false), length = number(bytes, at + 2, 2, false);
    if (!length || *marker == 0xFFDA) return tables;
    const ByteSpan segment = part(bytes, at, 2 + std::uint64_t{*length});
    const auto raw = std::as_bytes(segment);
    if (*marker == 0xFFC4) tables.insert(tables.end(), raw.begin(), raw.end());
    at += 2 + std::uint64_t{*length};
  }
}

}  // namespace

std::vector<MarkerSegment> jpeg_segments(const PictureContent& content, std::string* left_out) {
  std::vector<MarkerSegment> segments;
  std::vector<std::uint8_t> exif = content.exif;
  if (exif.empty() && content.orientation != 1) exif = minimal_exif(content.orientation);
  set_exif_orientation(exif, content.orientation);
  add_single("Exif\0\0"sv, exif, "EXIF", segments, left_out);
  add_single("http://ns.adobe.com/xap/1.0/\0"sv,
             {reinterpret_cast<const std::uint8_t*>(content.xmp.data()), content.xmp.size()}, "XMP",
             segments, left_out);
  add_profile(content.icc, segments, left_out);
  return segments;
}

void insert_segments(std::span<const MarkerSegment> segments, std::vector<std::byte>& jpeg) {
  std::vector<std::byte> bytes;
  for (const MarkerSegment& segment : segments) {
    const std::size_t length = segment.payload.size() + 2;
    bytes.insert(bytes.end(),
                 {std::byte{0xFF}, std::byte{segment.marker}, static_cast<std::byte>(length >> 8),
                  static_cast<std::byte>(length)});
    const auto raw = std::as_bytes(std::span(segment.payload));
    bytes.insert(bytes.end(), raw.begin(), raw.end());
  }
  const ByteSpan all = as_u8(jpeg);
  const auto length = number(all, 4, 2, false);
  const bool has_jfif = length && number(all, 2, 2, false) == 0xFF00u + kApp0;
  const std::size_t at = has_jfif ? std::min<std::size_t>(4 + *length, jpeg.size()) : 2;
  jpeg.insert(jpeg.begin() + static_cast<std::ptrdiff_t>(at), bytes.begin(), bytes.end());
}

bool set_jpeg_orientation(std::vector<std::byte>& jpeg, int orientation) {
  constexpr auto kId = "Exif\0\0"sv;
  const ByteSpan bytes = as_u8(jpeg);
  for (std::uint64_t at = 2;;) {
    const auto marker = number(bytes, at, 2, false), length = number(bytes, at + 2, 2, false);
    if (length && *marker == 0xFFFF) {  // a fill byte (T.81 B.1.1.2)
      ++at;
      continue;
    }
    if (!length || *length < 2 || *marker >> 8 != 0xFF || *marker == 0xFFDA) break;
    const ByteSpan payload = part(bytes, at + 4, *length - 2u);
    if (*marker == 0xFF00u + kApp1 && starts_with(payload, kId)) {
      const auto exif = std::span(reinterpret_cast<std::uint8_t*>(jpeg.data()), jpeg.size())
                            .subspan(at + 4 + kId.size(), payload.size() - kId.size());
      set_exif_orientation(exif, orientation);
      return exif_orientation(exif) == orientation;
    }
    at += 2 + std::uint64_t{*length};
  }
  PictureContent content;
  content.orientation = orientation;
  if (orientation != 1) insert_segments(jpeg_segments(content, nullptr), jpeg);
  return true;
}

std::optional<JpegKind> jpeg_kind(std::span<const std::byte> jpeg) {
  const ByteSpan bytes = as_u8(jpeg);
  if (!starts_with(bytes, "\xFF\xD8"sv)) return std::nullopt;
  bool unused = false;
  const std::uint64_t at = find_header(bytes, false, unused);
  const ByteSpan header = part(bytes, at, 10);
  if (at == 0 || header.empty()) return std::nullopt;
  JpegKind kind;
  kind.process = process_of(header[1]);
  kind.bits = header[4];
  kind.height = header[5] << 8 | header[6];
  kind.width = header[7] << 8 | header[8];
  kind.components = header[9];
  int transform = -1;
  bool has_jfif = false;
  for (std::uint64_t app = 2; app < at;) {
    const auto marker = number(bytes, app, 2, false), length = number(bytes, app + 2, 2, false);
    if (!length) break;
    const ByteSpan payload = part(bytes, app + 4, *length < 2 ? 0 : *length - 2u);
    has_jfif |= *marker == 0xFFE0 && starts_with(payload, "JFIF");
    if (*marker == 0xFFEE && starts_with(payload, "Adobe") && payload.size() >= 12)
      transform = payload[11];
    app += *marker >> 8 == 0xFF && *marker != 0xFFFF ? 2 + std::uint64_t{*length} : 1;
  }
  kind.color = color_of(kind.components, transform, has_jfif);
  return kind;
}

std::vector<std::byte> with_huffman_tables(std::span<const std::byte> jpeg) {
  std::vector<std::byte> whole(jpeg.begin(), jpeg.end());
  bool has_tables = false;
  const std::uint64_t scan = find_header(as_u8(jpeg), true, has_tables);
  if (scan == 0 || has_tables) return whole;
  static const std::vector<std::byte> kTables = standard_tables();
  whole.insert(whole.begin() + static_cast<std::ptrdiff_t>(scan), kTables.begin(), kTables.end());
  return whole;
}

}  // namespace zerorun::io
