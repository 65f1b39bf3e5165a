// Picture content as segments of JPEG streams.
// SPDX-License-Identifier: MIT
#include <algorithm>

#include "codec/arith/host_device.hpp"
#include "io/metadata/metadata.hpp"
#include "zerorun/content.hpp"

namespace zerorun::io {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kMaxPayload = 65533;  // T.81 B.1.1.4: the length field counts itself

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

std::vector<JpegSegment> segments_to_scan(ByteSpan jpeg) {
  std::vector<JpegSegment> segments;
  for (std::uint64_t at = 2;;) {
    const auto marker = number(jpeg, at, 2, false), length = number(jpeg, at + 2, 2, false);
    if (!length) return segments;
    const auto code = static_cast<std::uint8_t>(*marker);
    const bool is_marker = *marker >> 8 == 0xFF && code != 0 && code != 0xFF;
    const bool stands_alone = code == 0x01 || (code >= 0xD0 && code <= 0xD7);  // TEM, RSTm
    if (!is_marker || stands_alone) {
      at += is_marker ? 2 : 1;
      continue;
    }
    segments.push_back({code, at, part(jpeg, at + 4, std::max(*length, 2u) - 2)});
    if (code == kSos || *length < 2) return segments;
    at += 2 + std::uint64_t{*length};
  }
}

std::vector<std::byte> bytes_of(const MarkerSegment& segment) {
  const std::size_t length = segment.payload.size() + 2;
  std::vector<std::byte> bytes(2 + length);
  bytes[0] = std::byte{0xFF};
  bytes[1] = std::byte{segment.marker};
  bytes[2] = static_cast<std::byte>(length >> 8);
  bytes[3] = static_cast<std::byte>(length);
  std::ranges::copy(std::as_bytes(std::span(segment.payload)), bytes.begin() + 4);
  return bytes;
}

std::vector<MarkerSegment> jpeg_segments(const PictureContent& content, std::string* left_out) {
  std::vector<MarkerSegment> segments;
  add_single(kApp1, kExifId, oriented_exif(content), "EXIF", segments, left_out);
  add_single(kApp1, kXmpId, as_u8(content.xmp), "XMP", segments, left_out);
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
    const std::vector<std::byte> raw = bytes_of(segment);
    bytes.insert(bytes.end(), raw.begin(), raw.end());
  }
  const ByteSpan all = as_u8(jpeg);
  const auto length = number(all, 4, 2, false);
  const bool has_jfif = length && number(all, 2, 2, false) == 0xFF00u + kApp0;
  const std::size_t at = has_jfif ? std::min<std::size_t>(4 + *length, jpeg.size()) : 2;
  jpeg.insert(jpeg.begin() + static_cast<std::ptrdiff_t>(at), bytes.begin(), bytes.end());
}

bool set_jpeg_orientation(std::vector<std::byte>& jpeg, int orientation) {
  for (const JpegSegment& segment : segments_to_scan(as_u8(jpeg))) {
    if (!segment.is(kApp1, kExifId)) continue;
    const auto exif =
        std::span(reinterpret_cast<std::uint8_t*>(jpeg.data()), jpeg.size())
            .subspan(segment.at + 4 + kExifId.size(), segment.payload.size() - kExifId.size());
    set_exif_orientation(exif, orientation);
    return exif_orientation(exif) == orientation;
  }
  PictureContent content;
  content.orientation = orientation;
  if (orientation != 1) insert_segments(jpeg_segments(content, nullptr), jpeg);
  return true;
}

}  // namespace zerorun::io
