// Puts ICC, EXIF and XMP into picture files that were just made; zlib streams and sums of PNG.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <string_view>

#include "io/metadata/metadata.hpp"
#include "io/metadata/tiff_directory.hpp"

#ifdef ZERORUN_HAVE_ZLIB
#include <zlib.h>
#endif

namespace zerorun::io {
namespace {

using namespace std::string_view_literals;
using Bytes = std::vector<std::uint8_t>;

void append(Bytes& out, ByteSpan bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); }

void append_number(Bytes& out, std::uint32_t value, std::size_t count, bool little) {
  out.resize(out.size() + count);
  put_number(std::span(out).last(count), value, little);
}

/// Length, type, data and CRC of type and data (PNG 5.3).
void add_png_chunk(std::string_view type, std::string_view head, ByteSpan data, Bytes& out) {
  append_number(out, static_cast<std::uint32_t>(head.size() + data.size()), 4, false);
  const std::size_t begin = out.size();
  append(out, as_u8(type));
  append(out, as_u8(head));
  append(out, data);
  append_number(out, png_crc(ByteSpan(out).subspan(begin)), 4, false);
}

void embed_in_png(const PictureContent& content, Bytes& file) {
  constexpr std::ptrdiff_t kAfterHeader = 8 + 25;  // signature and IHDR
  Bytes chunks;
  const Bytes profile = content.icc.empty() ? Bytes() : deflate(content.icc);
  if (!profile.empty()) add_png_chunk("iCCP", "ICC profile\0\0"sv, profile, chunks);
  if (!content.exif.empty()) add_png_chunk("eXIf", "", content.exif, chunks);
  append(chunks, content.png_chunks);
  if (content.density.known()) add_png_chunk("pHYs", "", png_density(content.density), chunks);
  if (!content.xmp.empty())
    add_png_chunk("iTXt", "XML:com.adobe.xmp\0\0\0\0\0"sv, as_u8(content.xmp), chunks);
  if (file.size() > static_cast<std::size_t>(kAfterHeader))
    file.insert(file.begin() + kAfterHeader, chunks.begin(), chunks.end());
}

void add_riff_chunk(std::string_view type, ByteSpan data, Bytes& out) {
  if (data.empty()) return;
  append(out, as_u8(type));
  append_number(out, static_cast<std::uint32_t>(data.size()), 4, true);
  append(out, data);
  if (data.size() % 2 != 0) out.push_back(0);
}

/// The extended header and its order of chunks: the "Extended File Format" of the WebP container
/// specification. The file so far has one VP8L chunk, because pictures are written lossless.
void embed_in_webp(const PictureContent& content, Bytes& file) {
  constexpr std::size_t kChunkAt = 12, kSizeAt = 21;
  const auto size = number(file, kSizeAt, 4, true);
  if (!size || !starts_with(ByteSpan(file).subspan(kChunkAt), "VP8L")) return;
  const std::uint32_t width = *size & 0x3FFF, height = *size >> 14 & 0x3FFF;  // both minus 1
  const bool has_alpha = (*size >> 28 & 1) != 0;
  Bytes header;
  append_number(header,
                (content.icc.empty() ? 0u : 0x20u) | (has_alpha ? 0x10u : 0u) |
                    (content.exif.empty() ? 0u : 0x08u) | (content.xmp.empty() ? 0u : 0x04u),
                4, true);
  append_number(header, width, 3, true);
  append_number(header, height, 3, true);
  Bytes out(file.begin(), file.begin() + kChunkAt);
  add_riff_chunk("VP8X", header, out);
  add_riff_chunk("ICCP", content.icc, out);
  append(out, ByteSpan(file).subspan(kChunkAt));
  if (out.size() % 2 != 0) out.push_back(0);
  add_riff_chunk("EXIF", content.exif, out);
  add_riff_chunk("XMP ", as_u8(content.xmp), out);
  put_number(std::span(out).subspan(4, 4), static_cast<std::uint32_t>(out.size() - 8), true);
  file = std::move(out);
}

}  // namespace

bool can_embed(const std::string& extension) {
  return extension == "png" || extension == "webp" || extension == "tif" || extension == "tiff";
}

void embed_content(const PictureContent& content, const std::string& extension,
                   std::vector<std::byte>& file) {
  const bool has_more = content.density.known() || !content.png_chunks.empty();
  if ((content.empty() && !has_more) || !can_embed(extension)) return;
  const ByteSpan before = as_u8(file);
  Bytes bytes(before.begin(), before.end());
  if (extension == "png")
    embed_in_png(content, bytes);
  else if (extension == "webp")
    embed_in_webp(content, bytes);
  else
    tiff::add_content(content, bytes);
  const auto raw = std::as_bytes(std::span(bytes));
  file.assign(raw.begin(), raw.end());
}

#ifdef ZERORUN_HAVE_ZLIB
std::vector<std::uint8_t> inflate(ByteSpan packed) {
  constexpr std::size_t kMost = std::size_t{16} << 20, kStep = std::size_t{1} << 16;
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) return {};
  stream.next_in = const_cast<Bytef*>(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());
  std::vector<std::uint8_t> out;
  int state = Z_OK;
  while (state == Z_OK && out.size() < kMost) {
    out.resize(out.size() + kStep);
    stream.next_out = out.data() + out.size() - kStep;
    stream.avail_out = kStep;
    state = ::inflate(&stream, Z_NO_FLUSH);
  }
  out.resize(state == Z_STREAM_END ? stream.total_out : 0);
  inflateEnd(&stream);
  return out;
}

std::vector<std::uint8_t> deflate(ByteSpan bytes) {
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::vector<std::uint8_t> out(size);
  const int state = compress(out.data(), &size, bytes.data(), static_cast<uLong>(bytes.size()));
  out.resize(state == Z_OK ? size : 0);
  return out;
}
#else
std::vector<std::uint8_t> inflate(ByteSpan) { return {}; }
std::vector<std::uint8_t> deflate(ByteSpan) { return {}; }
#endif

/// CRC-32 of PNG 5.5; a few hundred bytes to a few megabytes a file, so no table is worth it.
std::uint32_t png_crc(ByteSpan bytes) noexcept {
  std::uint32_t crc = 0xFFFFFFFF;
  for (const std::uint8_t byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0u);
  }
  return ~crc;
}

}  // namespace zerorun::io
