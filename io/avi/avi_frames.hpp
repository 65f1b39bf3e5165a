// Where the pictures of an AVI file are: by its index, or by a walk over its chunks.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "io/avi/avi_header.hpp"
#include "io/avi/riff.hpp"
#include "io/byte_reader.hpp"

namespace zerorun::io {

/// From JPEG stream to JPEG stream, in order. Bytes that are no chunk are passed over and counted,
/// and so are pictures of other kinds.
class AviWalk {
 public:
  /// `reader` stands at AviHeader::movi, and outlives the walk.
  AviWalk(ByteReader& reader, int stream) noexcept : reader_(reader), stream_(stream) {}

  /// The next picture; nullopt at the end, and for a picture that the end of the file cuts off.
  /// Leaves the reader at its first byte. Before the next call the caller moves the reader on by
  /// Chunk::padded_bytes().
  std::optional<riff::Chunk> next();

  std::int64_t skipped_bytes() const noexcept { return skipped_; }

 private:
  bool is_whole(const riff::Chunk& chunk) const;
  bool is_picture(const riff::Chunk& chunk, std::span<const std::byte> data) const;

  ByteReader& reader_;
  const int stream_;
  bool lost_ = false;            // no chunk began where one should
  std::int64_t lost_bytes_ = 0;  // since then
  std::int64_t skipped_ = 0;
};

struct AviFrame {
  std::uint64_t offset = 0;  ///< of the data
  std::uint32_t bytes = 0;
  std::int64_t number = 0;  ///< also counts the chunks without data, which repeat a picture
};

struct AviFrames {
  std::vector<AviFrame> frames;
  std::int64_t chunks = 0;         ///< with those that repeat a picture
  std::int64_t skipped_bytes = 0;  ///< AviWalk's; 0 where the index is true
};

/// An index counts if what it says fits the file: chunks in order and inside it, as many as the
/// header says, and a sample of them where it says. Otherwise all chunk headers are read.
/// `file` is a regular file. Errors: read_failed.
Result<AviFrames> find_avi_frames(ByteReader& file, const AviHeader& header);

}  // namespace zerorun::io
