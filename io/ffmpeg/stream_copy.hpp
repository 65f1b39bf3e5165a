// The sound, subtitles and attachments of a file, trimmed to a range of time, for a file with new
// video.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/ffmpeg/av.hpp"
#include "zerorun/sink.hpp"
#include "zerorun/source.hpp"

namespace zerorun::io::av {

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
