// EXIF data: the orientation, pictures turned by it, and the words that a user looks for in it and
// in ICC profiles.
// SPDX-License-Identifier: MIT
#include "io/metadata/metadata.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "codec/base/try.hpp"
#include "io/metadata/tiff_directory.hpp"
#include "io/samples/frame_convert.hpp"
#include "io/samples/pixel_pack.hpp"
#include "zerorun/content.hpp"
#include "zerorun/convert.hpp"

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

/// Rows of columns are copied in squares, so that both sides stay in the cache.
constexpr int kSquare = 32;

/// Where the first sample of row 0 of the shown picture lies in the stored one, and the steps to
/// the next sample of its row and to its next row.
struct Walk {
  bool swaps, from_right, from_bottom;
};

/// By orientation, from 1 on (Exif 2.32, 4.6.4: where row 0 and column 0 are shown).
constexpr Walk kWalks[] = {{false, false, false}, {false, true, false}, {false, true, true},
                           {false, false, true},  {true, false, false}, {true, false, true},
                           {true, true, true},    {true, true, false}};

template <int kBytes>
void turn(const ConstFrameView& in, const Walk& walk, const FrameView& out) {
  for (int top = 0; top < out.height; top += kSquare)
    for (int left = 0; left < out.width; left += kSquare)
      for (int y = top; y < std::min(top + kSquare, out.height); ++y) {
        std::uint8_t* to = row_of(out, 0, y) + kBytes * left;
        for (int x = left; x < std::min(left + kSquare, out.width); ++x, to += kBytes) {
          const int column = walk.swaps ? y : x, row = walk.swaps ? x : y;
          const std::uint8_t* from = row_of(in, 0, walk.from_bottom ? in.height - 1 - row : row) +
                                     kBytes * (walk.from_right ? in.width - 1 - column : column);
          std::memcpy(to, from, kBytes);
        }
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

Status orient(const ConstFrameView& in, int orientation, Frame& out) {
  if (orientation < 1 || orientation > 8)
    return Status(Errc::invalid_argument, "orientation " + std::to_string(orientation));
  if (plane_count(in.format) != 1 ||
      plane_row_bytes(in.format, 0, 2) != 2 * plane_row_bytes(in.format, 0, 1))
    return Status(Errc::invalid_argument, "only grey and RGB pictures are turned");
  const ConvertTimer timer;
  const Walk& walk = kWalks[orientation - 1];
  ZR_TRY(
      out.reshape(in.format, walk.swaps ? in.height : in.width, walk.swaps ? in.width : in.height));
  const std::size_t bytes = plane_row_bytes(in.format, 0, 1);
  if (bytes == 1) turn<1>(in, walk, out.view());
  if (bytes == 3) turn<3>(in, walk, out.view());
  if (bytes == 4) turn<4>(in, walk, out.view());
  return Status::ok();
}

int orientation_of(int rotation_degrees, bool mirrored) noexcept {
  if (rotation_degrees == 90) return mirrored ? 7 : 6;
  if (rotation_degrees == 180) return mirrored ? 4 : 3;
  if (rotation_degrees == 270) return mirrored ? 5 : 8;
  return mirrored ? 2 : 1;
}

bool is_mirrored(int orientation) noexcept {
  return orientation == 2 || orientation == 4 || orientation == 5 || orientation == 7;
}

int rotation_of(int orientation) noexcept {
  for (const int degrees : {90, 180, 270})
    if (orientation == orientation_of(degrees, is_mirrored(orientation))) return degrees;
  return 0;
}

}  // namespace zerorun::io
