// The orientation in EXIF data.
// SPDX-License-Identifier: MIT
#include "io/metadata/exif.hpp"

#include "io/metadata/tiff_directory.hpp"
#include "zerorun/content.hpp"

namespace zerorun::io {
namespace {

constexpr std::uint16_t kUnsignedShort = 3;

std::optional<std::uint64_t> orientation_place(ByteSpan exif, bool little, std::uint32_t at) {
  for (const tiff::Entry& entry : tiff::read_directory(exif, little, at))
    if (entry.tag == tiff::kOrientation && entry.type == kUnsignedShort) return entry.value_at;
  return std::nullopt;
}

}  // namespace

int exif_orientation(ByteSpan exif) noexcept {
  const auto header = tiff::read_header(exif);
  if (!header) return 1;
  const auto at = orientation_place(exif, header->little, header->first_directory);
  const auto value = at ? number(exif, *at, 2, header->little) : std::nullopt;
  return value && *value >= 1 && *value <= 8 ? static_cast<int>(*value) : 1;
}

void set_exif_orientation(std::span<std::uint8_t> exif, int orientation) noexcept {
  const auto header = tiff::read_header(exif);
  if (!header) return;
  const auto at = orientation_place(exif, header->little, header->first_directory);
  if (at && number(exif, *at, 2, header->little))
    put_number(exif.subspan(static_cast<std::size_t>(*at), 2),
               static_cast<std::uint32_t>(orientation), header->little);
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

}  // namespace zerorun::io
