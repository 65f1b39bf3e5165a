// The video stream of any file that libavformat opens.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
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

  AVFormatContext& context() noexcept { return *context_; }
  AVStream& stream() noexcept { return *stream_; }
  const std::string& name() const noexcept { return name_; }

  /// A time stamp of the stream counted from the start of the container.
  std::int64_t from_start(std::int64_t pts) const noexcept { return pts - start_; }
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
  std::int64_t delivered_ = 0;
  std::deque<PacketPtr> ahead_;  // read to see the rate, given first
  Status ahead_error_;           // what ended the look-ahead, given after it
};

}  // namespace zerorun::io::av
