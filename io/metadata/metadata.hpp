// What the readers and writers of metadata share: numbers in file data that is not trusted, zlib,
// EXIF's orientation.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "zerorun/content.hpp"

namespace zerorun::io {

using ByteSpan = std::span<const std::uint8_t>;

inline ByteSpan as_u8(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
}
inline ByteSpan as_u8(std::string_view text) noexcept {
  return as_u8(std::as_bytes(std::span(text)));
}

/// The part from `at` on with `count` bytes; empty if it is not there.
inline ByteSpan part(ByteSpan bytes, std::uint64_t at, std::uint64_t count) noexcept {
  if (at > bytes.size() || count > bytes.size() - at) return {};
  return bytes.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(count));
}

inline bool starts_with(ByteSpan bytes, std::string_view text) noexcept {
  return bytes.size() >= text.size() && std::memcmp(bytes.data(), text.data(), text.size()) == 0;
}

inline std::optional<std::uint32_t> number(ByteSpan bytes, std::uint64_t at, int count,
                                           bool little) noexcept {
  const ByteSpan digits = part(bytes, at, static_cast<std::uint64_t>(count));
  if (digits.empty()) return std::nullopt;
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < digits.size(); ++i)
    value = value << 8 | digits[little ? digits.size() - 1 - i : i];
  return value;
}

inline void put_number(std::span<std::uint8_t> out, std::uint32_t value, bool little) noexcept {
  for (std::size_t i = 0; i < out.size(); ++i, value >>= 8)
    out[little ? i : out.size() - 1 - i] = static_cast<std::uint8_t>(value);
}

/// A marker segment of a JPEG stream: its two bytes of marker lie at `at`, its payload ends it.
struct JpegSegment {
  std::uint8_t marker;
  std::uint64_t at;
  ByteSpan payload;

  std::size_t bytes() const noexcept { return 4 + payload.size(); }
  bool is(std::uint8_t app, std::string_view id) const noexcept {
    return marker == app && starts_with(payload, id);
  }
};
constexpr std::uint8_t kDht = 0xC4, kSos = 0xDA, kApp0 = 0xE0, kApp1 = 0xE1, kApp2 = 0xE2,
                       kApp14 = 0xEE, kCom = 0xFE;
constexpr std::string_view kExifId{"Exif\0\0", 6}, kXmpId{"http://ns.adobe.com/xap/1.0/\0", 29};
/// Those up to the first SOS, which is the last one, or up to one without a length. What lies
/// between them is stepped over, as decoders do.
std::vector<JpegSegment> segments_to_scan(ByteSpan jpeg);
std::vector<std::byte> bytes_of(const MarkerSegment& segment);

/// The entries of an index of pictures (CIPA DC-007, Multi-Picture Format): attributes, size,
/// offset and two numbers, 16 bytes each.
struct MpfTable {
  std::uint64_t at = 0;  ///< in the payload of the segment
  std::size_t pictures = 0;
  bool little = true;
};
constexpr std::string_view kMpfId{"MPF\0", 4};
std::optional<MpfTable> mpf_table(ByteSpan payload);

/// Empty if the stream is damaged, longer than 16 MiB unpacked, or this build has no zlib.
std::vector<std::uint8_t> inflate(ByteSpan packed);
/// Empty if this build has no zlib.
std::vector<std::uint8_t> deflate(ByteSpan bytes);
std::uint32_t png_crc(ByteSpan bytes) noexcept;

/// Densities: the payload of JFIF's APP0, PNG's pHYs, entries of a TIFF directory in any order, and
/// the value that PNG and TIFF have for one.
Density density_of_jfif(ByteSpan app0) noexcept;
Density density_of_png(ByteSpan phys) noexcept;
std::array<std::uint8_t, 9> png_density(const Density& density) noexcept;
std::array<std::uint8_t, 8> tiff_density(double value, bool little) noexcept;
/// Width over height of a pixel: where there are twice as many in a row, each is half as wide.
Rational pixel_shape(const Density& density) noexcept;

/// Takes what PNG chunks beside eXIf, iCCP and XMP say.
class PngChunks {
 public:
  explicit PngChunks(PictureContent& content) noexcept : content_(content) {}
  void take(ByteSpan whole);  ///< with length, type and CRC
  void finish();              ///< after the last chunk

 private:
  void take_text(ByteSpan chunk, bool is_packed, bool is_international);

  PictureContent& content_;
  bool is_srgb_ = false;
  double gamma_ = 0;                // of gAMA, times 100000; 0 = not told
  std::array<double, 8> chroma_{};  // of cHRM, times 100000: x and y of white, red, green, blue
};

/// The words of FFmpeg for PictureContent::cicp.
void describe_cicp(const PictureContent& content, ContainerContent& out);

/// The orientation tag of EXIF data, 1 if there is none or it is damaged.
int exif_orientation(std::span<const std::uint8_t> exif) noexcept;
/// Sets the orientation tag where there is one.
void set_exif_orientation(std::span<std::uint8_t> exif, int orientation) noexcept;

/// Puts ICC, EXIF and XMP into a picture file that was just made. `file` is a whole PNG, WebP or
/// TIFF file without such content; others stay as they are.
void embed_content(const PictureContent& content, const std::string& extension,
                   std::vector<std::byte>& file);

}  // namespace zerorun::io
