// What TIFF and WebP files say of their size.
// SPDX-License-Identifier: MIT
#include "io/pictures/image_file.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "codec/base/try.hpp"
#include "io/metadata/tiff_directory.hpp"
#include "zerorun/decoder.hpp"

namespace zerorun::io {
namespace {

struct Size {
  std::uint64_t width = 0, height = 0;
};

Status check(const std::string& name, const char* what, std::int64_t max_pixels, const Size& size) {
  if (size.width == 0 || size.height <= static_cast<std::uint64_t>(max_pixels) / size.width)
    return Status::ok();
  return Status(Errc::too_many_pixels, "'" + name + "': " + what + std::to_string(size.width) +
                                           "x" + std::to_string(size.height) + ", limit " +
                                           std::to_string(max_pixels));
}

/// The largest value of a tag, which may come more than once: the value that libtiff takes is not
/// larger. Sizes are BYTE, SHORT or LONG; nullopt: the tag has another type, which libtiff might
/// read.
std::optional<std::uint64_t> largest(ByteSpan file, const tiff::Header& header, std::uint16_t tag) {
  constexpr std::uint64_t kEntryBytes = 12;
  const auto count = number(file, header.first_directory, 2, header.little);
  std::uint64_t most = 0;
  for (std::uint64_t i = 0; count && i < *count; ++i) {
    const std::uint64_t at = std::uint64_t{header.first_directory} + 2 + i * kEntryBytes;
    if (number(file, at, 2, header.little) != tag) continue;
    const std::uint32_t type = number(file, at + 2, 2, header.little).value_or(0);
    const int bytes = type == 1 ? 1 : type == 3 ? 2 : type == 4 ? 4 : 0;
    if (bytes == 0) return std::nullopt;
    most = std::max<std::uint64_t>(most, number(file, at + 8, bytes, header.little).value_or(0));
  }
  return most;
}

Status check_tiff(const std::string& name, std::int64_t max_pixels, ByteSpan file) {
  constexpr std::uint16_t kWidth = 256, kHeight = 257, kTileWidth = 322, kTileHeight = 323;
  const auto header = tiff::read_header(file);
  if (!header) return Status::ok();
  const auto width = largest(file, *header, kWidth), height = largest(file, *header, kHeight);
  const auto tile_width = largest(file, *header, kTileWidth);
  const auto tile_height = largest(file, *header, kTileHeight);
  if (!width || !height || !tile_width || !tile_height)
    return Status(Errc::bad_input, "'" + name + "': its size is not a number of 8, 16 or 32 bits");
  ZR_TRY(check(name, "", max_pixels, {*width, *height}));
  return check(name, "tiles of ", max_pixels, {*tile_width, *tile_height});
}

/// The first chunk tells: VP8X a canvas, VP8L and VP8 the picture.
Size webp_size(ByteSpan file) {
  constexpr std::uint64_t kKind = 15, kPayload = 20;
  const auto at = [&](std::uint64_t offset, int bytes) -> std::uint64_t {
    return number(file, kPayload + offset, bytes, true).value_or(0);
  };
  constexpr std::uint64_t kMost = 0x3FFF;
  switch (number(file, kKind, 1, true).value_or(0)) {
    case 'X':
      return {at(4, 3) + 1, at(7, 3) + 1};
    case 'L':
      return {(at(1, 4) & kMost) + 1, (at(1, 4) >> 14 & kMost) + 1};
    default:
      return {at(6, 2) & kMost, at(8, 2) & kMost};
  }
}

}  // namespace

Status check_stored_size(const std::string& name, ContentKind kind, std::int64_t max_pixels,
                         std::span<const std::byte> data) {
  if (kind == ContentKind::tiff) return check_tiff(name, max_pixels, as_u8(data));
  if (kind == ContentKind::png)  // PNG 11.2.2: IHDR comes first
    return check(name, "", max_pixels,
                 {number(as_u8(data), 16, 4, false).value_or(0),
                  number(as_u8(data), 20, 4, false).value_or(0)});
  if (kind == ContentKind::webp) return check(name, "", max_pixels, webp_size(as_u8(data)));
  return Status::ok();
}

}  // namespace zerorun::io
