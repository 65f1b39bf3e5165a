// Picture content as segments of JPEG streams.
// SPDX-License-Identifier: MIT
#include <algorithm>

#include "codec/arith/integer.hpp"
#include "io/metadata/metadata.hpp"
#include "zerorun/content.hpp"

namespace zerorun::io {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kMaxPayload = 65533;  // T.81 B.1.1.4: the length field counts itself
constexpr std::uint8_t kApp0 = 0xE0, kApp1 = 0xE1, kApp2 = 0xE2, kCom = 0xFE;

std::vector<std::uint8_t> joined(std::string_view id, ByteSpan bytes) {
  std::vector<std::uint8_t> payload(id.begin(), id.end());
  payload.insert(payload.end(), bytes.begin(), bytes.end());
  return payload;
}

void add_single(std::uint8_t marker, std::string_view id, ByteSpan bytes, const char* what,
                std::vector<MarkerSegment>& segments, std::string* left_out) {
  if (bytes.empty()) return;
  if (id.size() + bytes.size() <= kMaxPayload)
    segments.push_back({marker, joined(id, bytes)});
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

}  // namespace

std::vector<MarkerSegment> jpeg_segments(const PictureContent& content, std::string* left_out) {
  std::vector<MarkerSegment> segments;
  add_single(kApp1, "Exif\0\0"sv, oriented_exif(content), "EXIF", segments, left_out);
  add_single(kApp1, "http://ns.adobe.com/xap/1.0/\0"sv, as_u8(content.xmp), "XMP", segments,
             left_out);
  add_profile(content.icc, segments, left_out);
  segments.insert(segments.end(), content.notes.begin(), content.notes.end());
  for (const auto& [keyword, text] : content.texts)
    add_single(kCom, keyword == "Comment" ? "" : keyword + ": ", as_u8(text), "a text", segments,
               left_out);
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

}  // namespace zerorun::io
