// Chunks of RIFF files, such as AVI: reading them and building them. Numbers are little-endian.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/byte_reader.hpp"

namespace zerorun::io::riff {

inline constexpr std::uint64_t kHeaderBytes = 8;  ///< of a chunk: identifier and size
inline constexpr std::uint64_t kListBytes = 12;   ///< of RIFF and LIST: and what they list
/// The size of a chunk whose end was not written yet.
inline constexpr std::uint32_t kUnknownSize = 0xFFFFFFFF;

struct Chunk {
  std::array<char, 4> id{};
  std::uint32_t bytes = 0;

  std::string_view name() const noexcept { return {id.data(), id.size()}; }
  bool is_list() const noexcept { return name() == "LIST" || name() == "RIFF"; }
  /// Of its data: chunks begin at even offsets.
  std::uint64_t padded_bytes() const noexcept { return std::uint64_t{bytes} + bytes % 2; }
};

Chunk parse_chunk(std::span<const std::byte, kHeaderBytes> header) noexcept;
/// nullopt at the end of the file, or where it cannot be read.
std::optional<Chunk> chunk_at(const ByteReader& file, std::uint64_t at);
/// "00dc" and "00db" are pictures of stream 0 of an AVI file.
bool is_picture_of(const Chunk& chunk, int stream) noexcept;

/// The number at `at`, which lies in `data`.
template <typename Number>
Number number_at(std::span<const std::byte> data, std::size_t at) noexcept {
  Number number = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i)
    number |= static_cast<Number>(std::to_integer<std::uint64_t>(data[at + i]) << (8 * i));
  return number;
}

/// Chunks in memory.
class Builder {
 public:
  /// Returns what close() takes.
  std::size_t open(std::string_view id);
  std::size_t open_list(std::string_view id, std::string_view type);
  /// Writes the size of the chunk and pads it.
  void close(std::size_t opened);

  void text(std::string_view characters);
  /// The lowest `bytes` bytes of `number`.
  void number(std::uint64_t number, int bytes);
  void u16(std::uint64_t value) { number(value, 2); }
  void u32(std::uint64_t value) { number(value, 4); }
  void u64(std::uint64_t value) { number(value, 8); }

  const std::vector<std::byte>& bytes() const noexcept { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace zerorun::io::riff
