// The video stream of any file that libavformat opens.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/byte_reader.hpp"
#include "io/ffmpeg/av.hpp"
#include "zerorun/io.hpp"

namespace zerorun::io::av {

class Demuxer {
 public:
  /// A regular file is opened by its path and can be sought in; anything else is read through
  /// `reader`, front to back. `format` forces a demuxer; empty = by content.
  /// Errors: unknown_format (nothing known, or no video in it), bad_input, read_failed.
  static Result<std::unique_ptr<Demuxer>> open(ByteReader reader, const std::string& format);

  Demuxer(const Demuxer&) = delete;
  Demuxer& operator=(const Demuxer&) = delete;
  ~Demuxer();

  /// The next packet of the video stream; false at the end. Errors: read_failed.
  Result<bool> read(AVPacket& packet);

  /// True for files that libavformat can jump in.
  bool can_seek() const noexcept;
  /// The next read() gives a key frame at or before `pts` (of FrameTime), the first one if need be.
  Status seek(std::int64_t pts);
  /// The next read() gives this packet, which was read before what it gives after it.
  void unread(PacketPtr packet) { ahead_.push_front(std::move(packet)); }
  /// MOV, MP4 and AVI files have an index of all frames, if they are whole. Its times are those of
  /// decoding, which codecs of key frames alone have in common with those of presentation.
  bool lists_all_frames() const noexcept;

  AVFormatContext& context() noexcept { return *context_; }
  AVStream& stream() noexcept { return *stream_; }
  const std::string& name() const noexcept { return name_; }

  /// A time stamp of the stream counted from the start of the container.
  std::int64_t from_start(std::int64_t pts) const noexcept { return pts - start_; }
  std::int64_t start() const noexcept { return start_; }
  /// Everything but pixel format and codec-dependent sizes.
  SourceInfo describe();

 private:
  Demuxer() = default;
  Status open_context(ByteReader reader, const std::string& format);
  Status choose_stream();
  Result<bool> next_packet(AVPacket& packet);
  Status look_ahead();
  std::vector<std::int64_t> sample_times() const;
  void choose_rate(SourceInfo& info) const;
  static int read_pipe(void* self, std::uint8_t* out, int count);

  std::string name_;
  std::unique_ptr<ByteReader> pipe_;
  AVIOContext* pipe_context_ = nullptr;
  AVFormatContext* context_ = nullptr;
  AVStream* stream_ = nullptr;
  std::int64_t start_ = 0;  // in the stream's time base
  std::int64_t missing_bytes_ = 0;
  std::int64_t delivered_ = 0;
  std::deque<PacketPtr> ahead_;  // read to see the rate, given first
  Status ahead_error_;           // what ended the look-ahead, given after it
};

}  // namespace zerorun::io::av
