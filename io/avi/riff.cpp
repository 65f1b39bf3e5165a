// Chunks of RIFF files.
// SPDX-License-Identifier: MIT
#include "io/avi/riff.hpp"

namespace zerorun::io::riff {

Chunk parse_chunk(std::span<const std::byte, kHeaderBytes> header) noexcept {
  Chunk chunk;
  for (std::size_t i = 0; i < chunk.id.size(); ++i) chunk.id[i] = static_cast<char>(header[i]);
  chunk.bytes = number_at<std::uint32_t>(header, chunk.id.size());
  return chunk;
}

std::optional<Chunk> chunk_at(const ByteReader& file, std::uint64_t at) {
  std::array<std::byte, kHeaderBytes> header{};
  const std::span<std::byte> whole(header);
  const Result<bool> read = file.read_at(at, {&whole, 1});
  if (!read || !*read) return std::nullopt;
  return parse_chunk(header);
}

bool is_picture_of(const Chunk& chunk, int stream) noexcept {
  if (chunk.id[0] - '0' != stream / 10 || chunk.id[1] - '0' != stream % 10) return false;
  return chunk.id[2] == 'd' && (chunk.id[3] == 'c' || chunk.id[3] == 'b');
}

std::size_t Builder::open(std::string_view id) {
  text(id);
  u32(kUnknownSize);
  return bytes_.size();
}

std::size_t Builder::open_list(std::string_view id, std::string_view type) {
  const std::size_t opened = open(id);
  text(type);
  return opened;
}

void Builder::close(std::size_t opened) {
  const std::size_t size = bytes_.size() - opened;
  for (std::size_t i = 0; i < 4; ++i)
    bytes_[opened - 4 + i] = static_cast<std::byte>(size >> (8 * i));
  if (size % 2 != 0) bytes_.push_back(std::byte{0});
}

void Builder::text(std::string_view characters) {
  for (const char c : characters) bytes_.push_back(static_cast<std::byte>(c));
}

void Builder::number(std::uint64_t number, int bytes) {
  for (int i = 0; i < bytes; ++i) bytes_.push_back(static_cast<std::byte>(number >> (8 * i)));
}

}  // namespace zerorun::io::riff
