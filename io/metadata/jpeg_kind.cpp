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

/// The place of the first marker after `at` that is a frame header or SOS; 0 if there is none.
/// `has_tables` becomes true if a DHT comes before.
std::uint64_t find_header(ByteSpan jpeg, bool until_scan, bool& has_tables) {
  for (std::uint64_t at = 2;;) {
    const auto marker = number(jpeg, at, 2, false), bytes = number(jpeg, at + 2, 2, false);
    if (!bytes) return 0;
    const std::uint32_t code = *marker & 0xFF;
    const bool is_marker = *marker >> 8 == 0xFF && code != 0 && code != 0xFF;
    const bool stands_alone = code == 0x01 || (code >= 0xD0 && code <= 0xD7);  // TEM, RSTm
    if (!is_marker || stands_alone) {
      at += is_marker ? 2 : 1;
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

bool has_end_of_image(std::span<const std::byte> jpeg) {
  constexpr std::array kEoi{std::byte{0xFF}, std::byte{0xD9}};
  bool unused = false;
  const std::uint64_t scan = find_header(as_u8(jpeg), true, unused);
  const auto rest = jpeg.subspan(scan);
  return scan != 0 &&  // from the end, where it usually is
         std::search(rest.rbegin(), rest.rend(), kEoi.rbegin(), kEoi.rend()) != rest.rend();
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
