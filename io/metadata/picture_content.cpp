// ICC, EXIF and XMP of JPEG, PNG, TIFF and WebP files.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "io/metadata/metadata.hpp"
#include "io/metadata/tiff_directory.hpp"
#include "zerorun/content.hpp"

namespace zerorun::io {
namespace {

using namespace std::string_view_literals;

constexpr auto kIccId = "ICC_PROFILE\0"sv;
constexpr auto kPngXmp = "XML:com.adobe.xmp\0"sv;

std::vector<std::uint8_t> copy(ByteSpan bytes) { return {bytes.begin(), bytes.end()}; }
std::string text(ByteSpan bytes) { return {bytes.begin(), bytes.end()}; }

void take_exif(ByteSpan exif, PictureContent& content) {
  if (starts_with(exif, kExifId)) exif = exif.subspan(kExifId.size());
  if (!tiff::read_header(exif) || !content.exif.empty()) return;
  content.exif = copy(exif);
  content.orientation = exif_orientation(exif);
}

/// iTXt: keyword, compression flag and method, language, translated keyword, text (PNG 11.3.4.5).
/// Returns whether it is XMP.
bool take_png_text(ByteSpan chunk, PictureContent& content) {
  if (!starts_with(chunk, kPngXmp)) return false;
  const ByteSpan rest = chunk.subspan(kPngXmp.size());
  if (rest.size() < 2) return true;
  std::size_t at = 2;
  for (int ends = 0; ends < 2 && at < rest.size(); ++at) ends += rest[at] == 0 ? 1 : 0;
  const ByteSpan packet = rest.subspan(at);
  content.xmp = rest[0] == 0 ? text(packet) : text(inflate(packet));
  return true;
}

/// iCCP: profile name, compression method, compressed profile (PNG 11.3.3.3).
void take_png_profile(ByteSpan chunk, PictureContent& content) {
  const auto end = std::find(chunk.begin(), chunk.end(), std::uint8_t{0});
  const auto at = static_cast<std::size_t>(end - chunk.begin()) + 2;
  if (at < chunk.size()) content.icc = inflate(chunk.subspan(at));
}

PictureContent png_content(ByteSpan file) {
  PictureContent content;
  PngChunks others(content);
  // Only the first one counts, even if it is broken or too long: a file may have thousands.
  bool has_profile = false, has_xmp = false;
  for (std::uint64_t at = 8;;) {
    const auto bytes = number(file, at, 4, false);
    const ByteSpan type = part(file, at + 4, 4);
    if (!bytes || type.empty() || starts_with(type, "IEND")) {
      others.finish();
      return content;
    }
    const ByteSpan chunk = part(file, at + 8, *bytes);
    if (starts_with(type, "IHDR") && chunk.size() >= 10) {
      content.bits = chunk[9] == 3 ? 8 : chunk[8];
      content.has_alpha = chunk[9] == 4 || chunk[9] == 6;
    }
    others.take(part(file, at, std::uint64_t{*bytes} + 12));
    if (starts_with(type, "tRNS")) content.has_alpha = true;
    if (starts_with(type, "acTL"))  // an animation of a sequence of files
      content.pages = static_cast<int>(std::min(number(chunk, 0, 4, false).value_or(1), 65536u));
    if (starts_with(type, "iCCP") && !std::exchange(has_profile, true))
      take_png_profile(chunk, content);
    if (starts_with(type, "eXIf")) take_exif(chunk, content);
    if (starts_with(type, "iTXt") && !has_xmp) has_xmp = take_png_text(chunk, content);
    at += std::uint64_t{*bytes} + 12;
  }
}

PictureContent webp_content(ByteSpan file) {
  PictureContent content;
  content.bits = 8;
  for (std::uint64_t at = 12;;) {
    const auto bytes = number(file, at + 4, 4, true);
    const ByteSpan type = part(file, at, 4);
    if (!bytes) return content;
    const ByteSpan chunk = part(file, at + 8, *bytes);
    if (starts_with(type, "VP8X") && !chunk.empty()) content.has_alpha = (chunk[0] & 0x10) != 0;
    if (starts_with(type, "VP8L") && chunk.size() >= 5) content.has_alpha = (chunk[4] & 0x10) != 0;
    if (starts_with(type, "ICCP")) content.icc = copy(chunk);
    if (starts_with(type, "EXIF")) take_exif(chunk, content);
    if (starts_with(type, "XMP ")) content.xmp = text(chunk);
    at += 8 + std::uint64_t{*bytes} + *bytes % 2;
  }
}

PictureContent tiff_content(ByteSpan file) {
  PictureContent content;
  const auto header = tiff::read_header(file);
  if (!header) return content;
  for (const tiff::Entry& entry :
       tiff::read_directory(file, header->little, header->first_directory)) {
    const auto value = entry.integer(header->little);
    if (entry.tag == tiff::kIcc) content.icc = copy(entry.value);
    if (entry.tag == tiff::kXmp) content.xmp = text(entry.value);
    if (entry.tag == tiff::kBitsPerSample && value) content.bits = static_cast<int>(*value);
    if (entry.tag == tiff::kExtraSamples) content.has_alpha = true;
    take_density(entry, content.density);
    if (entry.tag == tiff::kOrientation && value && *value >= 1 && *value <= 8)
      content.orientation = static_cast<int>(*value);
  }
  content.exif = tiff::exif_of(file);
  content.pages = std::max(1, static_cast<int>(tiff::picture_directories(file).size()));
  return content;
}

/// Whether a segment of a JPEG file says something of the picture, and not of its coding.
bool is_note(const MarkerSegment& segment) noexcept {
  const ByteSpan text(segment.payload);
  const bool is_of_coder = starts_with(text, "CS=ITU601") || starts_with(text, "Lavc") ||
                           starts_with(text, "CREATOR: ") || starts_with(text, "zerorun: ");
  return segment.marker == kCom ? !is_of_coder
                                : segment.marker == 0xED && starts_with(text, "Photoshop 3.0\0"sv);
}

/// The APPn and COM segments of a JPEG file up to its first scan.
std::vector<MarkerSegment> segments_of(ByteSpan file) {
  std::vector<MarkerSegment> segments;
  for (const JpegSegment& segment : segments_to_scan(file))
    if ((segment.marker & 0xF0) == kApp0 || segment.marker == kCom)
      segments.push_back({segment.marker, copy(segment.payload)});
  return segments;
}

PictureContent content_of(const std::vector<MarkerSegment>& segments) {
  PictureContent content;
  content.bits = 8;
  std::map<int, ByteSpan> profile;  // by number: a file may have its parts in any order
  int parts = 0;
  for (const MarkerSegment& segment : segments) {
    const ByteSpan payload(segment.payload);
    if (segment.marker == kApp0 && starts_with(payload, "JFIF\0"sv))
      content.density = density_of_jfif(payload);
    if (segment.marker == kApp1 && starts_with(payload, kExifId)) take_exif(payload, content);
    if (segment.marker == kApp1 && starts_with(payload, kXmpId))
      content.xmp = text(payload.subspan(kXmpId.size()));
    if (const auto table = mpf_table(payload); table && segment.marker == kApp2)
      content.pages = static_cast<int>(table->pictures);
    if (segment.marker == kApp2 && starts_with(payload, kIccId) &&
        payload.size() > kIccId.size() + 2) {
      profile.emplace(payload[kIccId.size()], payload.subspan(kIccId.size() + 2));
      parts = payload[kIccId.size() + 1];
    }
  }
  // ICC.1 B.4: numbers from 1 to the count. Half a profile is none.
  const bool is_whole = !profile.empty() && profile.begin()->first == 1 &&
                        profile.rbegin()->first == parts &&
                        profile.size() == static_cast<std::size_t>(parts);
  for (const auto& [number, bytes] : profile)
    if (is_whole) content.icc.insert(content.icc.end(), bytes.begin(), bytes.end());
  return content;
}

}  // namespace

const char* name(FieldOrder order) noexcept {
  constexpr const char* kNames[] = {"unknown", "progressive", "tt", "bb"};
  return kNames[static_cast<std::size_t>(order)];
}

PictureContent picture_content(const StreamInfo& stream) { return content_of(stream.segments); }

PictureContent picture_content(std::span<const std::byte> file) {
  const ByteSpan bytes = as_u8(file);
  if (starts_with(bytes, "\xFF\xD8"sv)) {
    const std::vector<MarkerSegment> segments = segments_of(bytes);
    PictureContent content = content_of(segments);
    std::ranges::copy_if(segments, std::back_inserter(content.notes), is_note);
    return content;
  }
  if (starts_with(bytes, "\x89PNG\r\n\x1A\n"sv)) return png_content(bytes);
  if (starts_with(bytes, "RIFF"sv)) return webp_content(bytes);
  return tiff_content(bytes);
}

}  // namespace zerorun::io
