// Turns a fragmented MOV or MP4 file into a plain one without moving a byte of its media.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/ffmpeg/muxer.hpp"

namespace zerorun::io::av {

/// Fragments survive a kill. While they are written, a second muxer of the same kind makes a plain
/// file, of which no byte is kept. Before each packet it is moved to the place of the packet in the
/// real file, so that its sample tables are true for that file. At the end its movie box is
/// appended to the file, and one box header in front declares all fragments media data ("mdat").
class MovIndex {
 public:
  static Result<std::unique_ptr<MovIndex>> create(const std::string& muxer, OutputFile& file,
                                                  Dictionary& options,
                                                  const Muxer::AddStreams& add_streams);

  /// Adds a packet of the next fragment.
  Status add(const AVPacket& packet, AVRational time_base);
  /// The fragment with the packets that were added lies in the file from `position` to its end.
  /// False if it does not have the expected layout; the file then has to stay fragmented.
  Result<bool> end_fragment(std::int64_t position);
  /// `file` ends with its last fragment. Errors: write_failed, those of add_chapters.
  Status finish(const Muxer::AddStreams& add_chapters);

 private:
  struct Pending {
    PacketPtr packet;
    AVRational time_base;
  };

  explicit MovIndex(OutputFile& file) noexcept : file_(file) {}

  Result<std::int64_t> movie_box(std::int64_t from);
  std::int64_t timecode_place() const;
  Result<std::vector<std::byte>> media_header(std::int64_t media_begin, std::int64_t media_end);

  OutputFile& file_;
  std::unique_ptr<Muxer> muxer_;
  std::vector<Pending> pending_;
};

}  // namespace zerorun::io::av
