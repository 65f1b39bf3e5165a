// Whether the index of an AVI file tells the truth about its video chunks.
// SPDX-License-Identifier: MIT
#include "io/ffmpeg/avi_index.hpp"

#include <algorithm>
#include <cstdint>

#include "io/avi/riff.hpp"

namespace zerorun::io::av {
namespace {

using riff::kHeaderBytes;

/// Video chunks with data from `at` on, in all RIFF lists that follow. 0 for a file without idx1:
/// then FFmpeg lists the chunks that it has read so far, which is true.
std::int64_t count_video_chunks(const ByteReader& file, std::uint64_t at, int stream) {
  std::int64_t count = 0;
  bool has_index = false;
  while (const auto chunk = riff::chunk_at(file, at)) {
    if (chunk->id[0] == 0) break;  // no chunk is called so; zeros would be read 8 bytes at a time
    if (riff::is_picture_of(*chunk, stream) && chunk->bytes > 0) ++count;
    has_index |= chunk->name() == "idx1";
    at += chunk->is_list() ? riff::kListBytes : kHeaderBytes + chunk->padded_bytes();
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
    const auto chunk = riff::chunk_at(file, at);
    if (!chunk || !riff::is_picture_of(*chunk, stream.index)) return true;
  }
  if (stream.nb_frames <= entries) return false;
  const auto first = static_cast<std::uint64_t>(avformat_index_get_entry(&stream, 0)->pos);
  return count_video_chunks(file, first, stream.index) > entries;
}

}  // namespace zerorun::io::av
