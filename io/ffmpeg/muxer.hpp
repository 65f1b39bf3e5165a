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
#include "zerorun/sink.hpp"
#include "zerorun/source.hpp"

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

/// Copies the streams of SinkOptions::audio_from and streams_from that the container can hold.
class StreamCopy {
 public:
  /// The range is counted from the start of the file, as the times of SourceInfo are; the packets'
  /// times are counted from `options.audio_start_seconds`. Errors: open_failed, bad_input.
  static Result<std::unique_ptr<StreamCopy>> open(const SinkOptions& options,
                                                  const AVOutputFormat& container);

  bool has_streams() const noexcept { return !tracks_.empty(); }

  /// Adds the streams after the video stream, which is number 0.
  Status add_streams(AVFormatContext& output) const;

  /// The next packet that begins before `until_seconds`, or nullptr; valid until the next call. Its
  /// stream_index is the output's, its times are in time_base().
  Result<const AVPacket*> next_before(double until_seconds);
  AVRational time_base(const AVPacket& packet) const;

 private:
  struct Track {
    AVStream* stream = nullptr;
    FilterPtr filter;  // null for most
    std::int64_t next_pts = 0;
    bool needs_silence = false;  // in front, because the container has no delay
  };

  StreamCopy() = default;
  Status choose_tracks(const AVOutputFormat& container);
  Status set_filter(Track& track);
  Result<bool> read_packet();
  bool place(Track& track);
  Result<const AVPacket*> silence(Track& track);

  InterruptedReads reads_;
  InputPtr context_;
  std::string name_;
  std::vector<Track> tracks_;
  std::vector<int> track_of_stream_;
  double start_ = 0, end_ = -1;
  bool copies_sound_ = false, copies_others_ = false;
  PacketPtr packet_, silence_;
  bool pending_ = false;  // packet_ was read and is written by a later call
  bool at_end_ = false;
};

}  // namespace zerorun::io::av
