// Whether the index of an AVI file tells the truth about its video chunks.
// SPDX-License-Identifier: MIT
#include "io/ffmpeg/avi_index.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace zerorun::io::av {
namespace {

constexpr std::uint64_t kHeaderBytes = 8;  // of a RIFF chunk: identifier and size
constexpr std::uint64_t kListBytes = 12;   // of RIFF and LIST: and what they list

struct Chunk {
  std::array<char, 4> id{};
  std::uint64_t bytes = 0;
  std::string_view name() const { return {id.data(), id.size()}; }
};

std::optional<Chunk> chunk_at(const ByteReader& file, std::uint64_t at) {
  std::array<std::byte, kHeaderBytes> header{};
  const std::span<std::byte> whole(header);
  const Result<bool> read = file.read_at(at, {&whole, 1});
  if (!read || !*read) return std::nullopt;
  Chunk chunk;
  for (std::size_t i = 0; i < 4; ++i) {
    chunk.id[i] = static_cast<char>(header[i]);
    chunk.bytes |= std::to_integer<std::uint64_t>(header[4 + i]) << (8 * i);
  }
  return chunk;
}

/// "00dc" and "00db" belong to stream 0.
bool is_video_of(const Chunk& chunk, int stream) {
  if (chunk.id[0] - '0' != stream / 10 || chunk.id[1] - '0' != stream % 10) return false;
  return chunk.id[2] == 'd' && (chunk.id[3] == 'c' || chunk.id[3] == 'b');
}

/// Video chunks with data from `at` on, in all RIFF lists that follow. 0 for a file without idx1:
/// then FFmpeg lists the chunks that it has read so far, and that is no lie.
std::int64_t count_video_chunks(const ByteReader& file, std::uint64_t at, int stream) {
  std::int64_t count = 0;
  bool has_index = false;
  while (const auto chunk = chunk_at(file, at)) {
    if (chunk->id[0] == 0) break;  // no chunk is called so; zeros would be read 8 bytes at a time
    const bool is_list = chunk->name() == "LIST" || chunk->name() == "RIFF";
    if (is_video_of(*chunk, stream) && chunk->bytes > 0) ++count;
    has_index |= chunk->name() == "idx1";
    at += is_list ? kListBytes : kHeaderBytes + chunk->bytes + chunk->bytes % 2;
  }
  return has_index ? count : 0;
}

}  // namespace

bool avi_index_lies(AVStream& stream, const ByteReader& file) {
  const int entries = avformat_index_get_entries_count(&stream);
  if (entries < 1 || !file.size()) return false;
  constexpr int kSamples = 64;
  const int step = std::max(1, entries / kSamples);
  std::uint64_t end = 0;
  for (int i = 0; i < entries; ++i) {
    const AVIndexEntry& entry = *avformat_index_get_entry(&stream, i);
    const auto at = static_cast<std::uint64_t>(entry.pos);
    const auto bytes = static_cast<std::uint64_t>(entry.size);
    if (entry.pos < 0 || entry.size < 0 || at < end || at >= *file.size()) return true;
    // What is cut off at the end of the file is reported as missing bytes.
    end = at + kHeaderBytes + bytes;
    if (i % step != 0 && i != entries - 1) continue;
    const auto chunk = chunk_at(file, at);
    if (!chunk || !is_video_of(*chunk, stream.index)) return true;
  }
  if (stream.nb_frames <= entries) return false;
  const auto first = static_cast<std::uint64_t>(avformat_index_get_entry(&stream, 0)->pos);
  return count_video_chunks(file, first, stream.index) > entries;
}

}  // namespace zerorun::io::av
