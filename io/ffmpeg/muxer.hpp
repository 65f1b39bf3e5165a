// A libavformat muxer that writes to an OutputFile, which keeps the reason of every error, and what
// turns a fragmented MOV or MP4 file into a plain one without moving a byte of its media.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "io/ffmpeg/av.hpp"
#include "io/output/output_file.hpp"

namespace zerorun::io::av {

class Muxer {
 public:
  /// Adds the streams to a new context.
  using AddStreams = std::function<Status(AVFormatContext&)>;

  /// The muxer's first byte is the first byte of `file`; bytes that belong before position
  /// `keep_from` are not written. Errors: those of add_streams, unsupported_output.
  static Result<std::unique_ptr<Muxer>> create(const std::string& name, OutputFile& file,
                                               Dictionary& options, const AddStreams& add_streams,
                                               std::int64_t keep_from = 0);

  Muxer(const Muxer&) = delete;
  Muxer& operator=(const Muxer&) = delete;
  ~Muxer();

  /// Time stamps are in `time_base`. The packet is left as it was.
  Status write(const AVPacket& packet, AVRational time_base);
  /// Ends the cluster or fragment and writes every buffered byte.
  Status flush();
  /// Writes every buffered byte without ending a cluster.
  Status drain();
  Status finish();
  /// Calls a function with the context. Chapters of MOV and MP4 come before finish().
  Status add(const AddStreams& add) { return add(*context_); }
  bool has_chapters() const noexcept { return context_->nb_chapters > 0; }
  /// Sets the position at which the muxer goes on.
  Status seek(std::int64_t position);
  void keep_from(std::int64_t position) noexcept { keep_from_ = position; }
  /// The first bytes that the muxer has written, also those that were not kept.
  const std::vector<std::byte>& head() const noexcept { return head_; }

 private:
  explicit Muxer(OutputFile& file) noexcept : file_(file) {}
  Status check(int error);
  Status open_io();
  static int write_file(void* self, WrittenByte* data, int count);
  static std::int64_t seek_file(void* self, std::int64_t offset, int whence);

  OutputFile& file_;
  std::int64_t keep_from_ = 0;
  std::int64_t position_ = 0, size_ = 0;  // counting the bytes that were dropped
  AVFormatContext* context_ = nullptr;
  AVIOContext* io_ = nullptr;
  PacketPtr scratch_;
  std::vector<std::byte> head_;
};

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
