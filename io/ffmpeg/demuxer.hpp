// The video stream of any file that libavformat opens.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "io/byte_reader.hpp"
#include "io/ffmpeg/frame_times.hpp"

namespace zerorun::io::av {

class Demuxer {
 public:
  /// Opens a regular file by its path, so that it can seek; anything else is read through `reader`,
  /// front to back. `format` forces a demuxer; empty = by content.
  /// Errors: unknown_format (not recognised, or without video), bad_input, read_failed.
  static Result<std::unique_ptr<Demuxer>> open(ByteReader reader, const std::string& format);

  Demuxer(const Demuxer&) = delete;
  Demuxer& operator=(const Demuxer&) = delete;
  ~Demuxer();

  /// The next packet of the video stream; false at the end. Errors: read_failed.
  Result<bool> read(AVPacket& packet);

  /// True for files in which libavformat can seek.
  bool can_seek() const noexcept;
  /// The next read() gives a key frame at or before `pts` (of FrameTime), or the first key frame.
  Status seek(std::int64_t pts);
  /// Puts a packet back for the next read().
  void unread(PacketPtr packet) { ahead_.push_front(std::move(packet)); }
  const FrameTimes& times();

  AVStream& stream() noexcept { return *stream_; }
  const std::string& name() const noexcept { return name_; }

  /// A time stamp of the stream counted from the start of the container.
  std::int64_t from_start(std::int64_t pts) const noexcept { return pts - start_; }
  /// Everything but the pixel format, by the headers of the container.
  const SourceInfo& info() const noexcept { return info_; }

 private:
  Demuxer() = default;
  Status open_context(ByteReader reader, const std::string& format);
  Status choose_stream();
  Result<bool> next_packet(AVPacket& packet);
  Status look_ahead();
  void describe();
  static int read_pipe(void* self, std::uint8_t* out, int count);

  std::string name_;
  std::unique_ptr<ByteReader> pipe_;
  AVIOContext* pipe_context_ = nullptr;
  AVFormatContext* context_ = nullptr;
  AVStream* stream_ = nullptr;
  std::int64_t start_ = 0;  // in the stream's time base
  std::int64_t missing_bytes_ = 0;
  std::int64_t delivered_ = 0;
  std::deque<PacketPtr> ahead_;  // read to measure the rate; read() gives them first
  Status ahead_error_;           // of the look-ahead; read() gives it after them
  SourceInfo info_;
  std::optional<FrameTimes> times_;
};

}  // namespace zerorun::io::av
