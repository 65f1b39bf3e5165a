// zlib streams, as PNG has them around profiles and texts.
// SPDX-License-Identifier: MIT
#include "io/metadata/metadata.hpp"

#ifdef ZERORUN_HAVE_ZLIB
#include <zlib.h>
#endif

namespace zerorun::io {

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
