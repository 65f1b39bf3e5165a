// EXIF data: the orientation, and the words that a user looks for in it and in ICC profiles.
// SPDX-License-Identifier: MIT
#include "io/metadata/metadata.hpp"

#include <algorithm>
#include <array>

#include "io/metadata/tiff_directory.hpp"
#include "zerorun/content.hpp"

namespace zerorun::io {

namespace {

constexpr std::uint16_t kAscii = 2, kShort = 3, kLong = 4, kRational = 5;

std::optional<tiff::Entry> orientation_entry(ByteSpan exif) {
  const auto header = tiff::read_header(exif);
  if (!header) return std::nullopt;
  for (const tiff::Entry& entry :
       tiff::read_directory(exif, header->little, header->first_directory))
    if (entry.tag == tiff::kOrientation && entry.type == kShort) return entry;
  return std::nullopt;
}

struct Named {
  std::uint16_t tag;
  const char* label;
};
constexpr std::array kPicture{
    Named{271, "make"},   Named{272, "model"},       Named{306, "date"}, Named{274, "orientation"},
    Named{315, "artist"}, Named{33432, "copyright"}, Named{34853, "gps"}};
constexpr std::array kExposure{Named{36867, "taken"}, Named{33434, "exposure"},
                               Named{33437, "aperture"}, Named{34855, "iso"},
                               Named{37386, "focal_length"}};

std::string printable(ByteSpan bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) {
    if (byte == 0 || text.size() == 80) break;
    text += byte >= 0x20 && byte != 0x7F ? static_cast<char>(byte) : '.';
  }
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

std::string decimal(double value) {
  std::string text = std::to_string(value);  // six digits, always with a point
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string value_text(const tiff::Entry& entry, bool little) {
  if (entry.tag == tiff::kGpsDirectory) return "yes";
  if (entry.type == kAscii) return printable(entry.value);
  if (entry.type == kShort || entry.type == kLong)
    return std::to_string(entry.integer(little).value_or(0));
  if (entry.type != kRational) return {};
  const auto top = number(entry.value, 0, 4, little), bottom = number(entry.value, 4, 4, little);
  if (!top || !bottom || *bottom == 0) return {};
  const double value = static_cast<double>(*top) / *bottom;
  if (value > 0 && value < 0.5) return "1/" + std::to_string(static_cast<long>(1 / value + 0.5));
  return decimal(value);
}

void take(const std::vector<tiff::Entry>& entries, std::span<const Named> names, bool little,
          std::vector<std::pair<std::string, std::string>>& out) {
  for (const Named& named : names)
    for (const tiff::Entry& entry : entries) {
      if (entry.tag != named.tag) continue;
      if (std::string text = value_text(entry, little); !text.empty())
        out.emplace_back(named.label, std::move(text));
      break;
    }
}

}  // namespace

int exif_orientation(ByteSpan exif) noexcept {
  const auto entry = orientation_entry(exif);
  const auto value = entry ? entry->integer(entry->is_little) : std::nullopt;
  return value && *value >= 1 && *value <= 8 ? static_cast<int>(*value) : 1;
}

void set_exif_orientation(std::span<std::uint8_t> exif, int orientation) noexcept {
  if (const auto entry = orientation_entry(exif))
    put_number(exif.subspan(static_cast<std::size_t>(entry->value_at), 2),
               static_cast<std::uint32_t>(orientation), entry->is_little);
}

std::vector<std::uint8_t> oriented_exif(const PictureContent& content) {
  std::vector<std::uint8_t> exif = content.exif;
  // A TIFF header, one entry (0x0112 SHORT x 1) and no further directory; Exif 2.32, 4.6.2.
  if (exif.empty() && content.orientation != 1)
    exif = {'I', 'I', '*', 0, 8, 0, 0, 0, 1, 0, 0x12, 0x01, 3,
            0,   1,   0,   0, 0, 1, 0, 0, 0, 0, 0,    0,    0};
  set_exif_orientation(exif, content.orientation);
  return exif;
}

std::vector<std::pair<std::string, std::string>> exif_summary(ByteSpan exif) {
  std::vector<std::pair<std::string, std::string>> facts;
  const auto header = tiff::read_header(exif);
  if (!header) return facts;
  const auto entries = tiff::read_directory(exif, header->little, header->first_directory);
  take(entries, kPicture, header->little, facts);
  for (const tiff::Entry& entry : entries)
    if (const auto at = entry.integer(header->little); entry.tag == tiff::kExifDirectory && at)
      take(tiff::read_directory(exif, header->little, *at), kExposure, header->little, facts);
  return facts;
}

std::string profile_name(ByteSpan icc) {
  constexpr std::uint64_t kTagTable = 128, kTagBytes = 12;
  const auto tags = number(icc, kTagTable, 4, false);
  for (std::uint64_t i = 0; tags && i < std::min(*tags, 100u); ++i) {
    const std::uint64_t at = kTagTable + 4 + i * kTagBytes;
    const auto offset = number(icc, at + 4, 4, false), bytes = number(icc, at + 8, 4, false);
    if (!bytes) break;
    if (!starts_with(part(icc, at, 4), "desc")) continue;
    const ByteSpan tag = part(icc, *offset, *bytes);
    // Version 2 has ASCII (ICC.1:2001, 6.5.17), version 4 UTF-16 in several languages (10.15).
    if (starts_with(tag, "desc"))
      return printable(part(tag, 12, tag.size() - std::min<std::size_t>(12, tag.size())));
    const auto length = number(tag, 20, 4, false), place = number(tag, 24, 4, false);
    if (!starts_with(tag, "mluc") || !place) break;
    std::string text;
    for (const std::uint8_t byte : part(tag, *place, *length))
      if (byte != 0) text += static_cast<char>(byte);
    return printable({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  }
  return printable(part(icc, 16, 4));
}

}  // namespace zerorun::io
