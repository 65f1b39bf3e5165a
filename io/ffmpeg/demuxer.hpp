// The video stream of any file that libavformat opens: its packets, which of its frames is shown
// when, and at which rate.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/base/byte_reader.hpp"
#include "io/ffmpeg/av.hpp"
#include "io/base/readers.hpp"

namespace zerorun::io::av {

/// MOV, MP4 and undamaged AVI files list every frame.
bool has_whole_index(AVStream* stream) noexcept;
/// True for codecs whose frames are all key frames.
bool is_intra_only(AVStream* stream) noexcept;

/// Sets frame_rate and variable_frame_rate by the times in the index, or else in the first packets.
/// A constant rate has steps that are equal but for the rounding of the clock. If times and header
/// disagree, the times are right (an AVI may say 50 fps and leave every second frame empty).
void measure_rate(AVStream* stream, const std::deque<PacketPtr>& first_packets, bool lists_stored,
                  SourceInfo& info);

/// Times are those of FrameTime: counted from `start`, a time stamp of the stream. If the container
/// does not list all frames, their times follow from the rate.
class FrameTimes {
 public:
  FrameTimes(AVStream* stream, std::int64_t start, bool lists_all_frames, const SourceInfo& info);
  /// All times, rising; not empty.
  explicit FrameTimes(std::vector<std::int64_t> times)
      : times_(std::move(times)), first_(times_.front()) {}

  /// The frame that is shown at `pts`.
  std::int64_t index_at(std::int64_t pts) const noexcept;
  std::int64_t time_of(std::int64_t index) const noexcept;
  std::int64_t first() const noexcept { return first_; }
  /// True if the time of every frame is known.
  bool lists_all() const noexcept { return !times_.empty(); }
  /// How many frames there are if lists_all().
  std::int64_t count() const noexcept { return static_cast<std::int64_t>(times_.size()); }

 private:
  std::vector<std::int64_t> times_;  // sorted; empty = by the rate
  std::int64_t first_ = 0;
  double ticks_per_frame_ = 1.0;
};

class Demuxer {
 public:
  /// Opens a regular file by its path, so that it can seek; anything else is read through `reader`,
  /// front to back. `format` forces a demuxer; empty = by content.
  /// Errors: unknown_format (not recognised, or without video), bad_input, read_failed.
  static Result<std::unique_ptr<Demuxer>> open(ByteReader reader, const std::string& format);

  /// An address, which is read front to back. A connection that is lost, or quiet for so long,
  /// ends it once there were packets. Errors: those above, open_failed.
  static Result<std::unique_ptr<Demuxer>> open_address(const std::string& address,
                                                       double timeout_seconds);
  /// The reason why an address ended early; empty if it did not. Any thread.
  std::string notice() const;

  Demuxer(const Demuxer&) = delete;
  Demuxer& operator=(const Demuxer&) = delete;
  ~Demuxer();

  /// The next packet of the video stream; false at the end. Errors: read_failed.
  Result<bool> read(AVPacket& packet);
  /// As SourceOptions::repeats_dropped. Call it before the first read().
  void repeat_dropped();

  /// True for files in which libavformat can seek.
  bool can_seek() const noexcept;
  /// The next read() gives a key frame at or before `pts` (of FrameTime), or the first key frame.
  Status seek(std::int64_t pts);
  /// True if times() has the exact time of every frame: the container lists them, or it lists all
  /// packets and their rate is constant.
  bool finds_index();
  /// The number of frames if times() lists all, though info() has none: -1 = they must be read.
  std::int64_t listed_frames();
  /// Puts a packet back for the next read().
  void unread(PacketPtr packet) { ahead_.push_front(std::move(packet)); }
  const FrameTimes& times();

  AVStream& stream() noexcept { return *stream_; }
  bool is_motion_jpeg() const noexcept { return stream_->codecpar->codec_id == AV_CODEC_ID_MJPEG; }
  const std::string& name() const noexcept { return name_; }

  /// A time stamp of the stream counted from the start of the container.
  std::int64_t from_start(std::int64_t pts) const noexcept { return pts - start_; }
  /// Everything but the pixel format, by the headers of the container.
  const SourceInfo& info() const noexcept { return info_; }

 private:
  Demuxer() = default;
  Status open_context(ByteReader reader, const std::string& format, bool may_seek);
  Status open_live();
  Status probe_address(const AVInputFormat** found);
  Status failure_of_address(Errc code, int error) const;
  Status distrust_index(const std::string& format);
  Status choose_stream();
  Result<bool> read_stored(AVPacket& packet);
  bool repeats_last(AVPacket& packet);
  Result<bool> next_packet(AVPacket& packet);
  std::optional<FrameTimes> walked_times();
  Status look_ahead();
  void describe();
  static int read_pipe(void* self, std::uint8_t* out, int count);

  std::string name_;
  InterruptedReads reads_;
  std::unique_ptr<ByteReader> pipe_;
  AVIOContext* pipe_context_ = nullptr;
  AVIOContext* connection_ = nullptr;
  double timeout_seconds_ = 0;    // of an address; otherwise 0
  std::atomic<int> live_end_{0};  // FFmpeg's error that ended it
  AVFormatContext* context_ = nullptr;
  AVStream* stream_ = nullptr;
  std::int64_t start_ = 0;  // in the stream's time base
  std::int64_t missing_bytes_ = 0;
  bool has_index_ = false;  // a list of frames was there when the file was opened
  std::int64_t delivered_ = 0;
  std::deque<PacketPtr> ahead_;            // read to measure the rate; read() gives them first
  std::vector<std::int64_t> first_times_;  // of these
  Status ahead_error_;                     // of the look-ahead; read() gives it after them
  bool fills_gaps_ = false;
  PacketPtr last_;  // of read(), where gaps are filled
  SourceInfo info_;
  std::optional<FrameTimes> times_;
};

/// A reader of the items of a demuxer's stream. `Base` is a reader without seek_index().
template <typename Base>
class DemuxerReader : public Base {
 public:
  explicit DemuxerReader(std::shared_ptr<Demuxer> demuxer)
      : demuxer_(std::move(demuxer)), next_time_(demuxer_->from_start(0)) {
    this->info_ = demuxer_->info();
  }
  std::string last_name() const override {
    return demuxer_->name() + " frame " + std::to_string(this->index_ - 1);
  }
  bool can_seek() const override { return demuxer_->can_seek(); }
  std::string notice() const override { return demuxer_->notice(); }
  bool finds_index() override { return demuxer_->finds_index(); }
  std::int64_t listed_frames() override { return demuxer_->listed_frames(); }
  Result<std::int64_t> seek_index(std::int64_t index) override {
    return this->seek_time(demuxer_->times().time_of(index));
  }

 protected:
  std::shared_ptr<Demuxer> demuxer_;
  PacketPtr packet_{av_packet_alloc()};
  std::int64_t next_time_;  // of an item without a time stamp
};

/// The video stream of `demuxer` is Motion JPEG. Packets with two fields come as they are.
Result<PacketReaderPtr> open_container_packets(std::shared_ptr<Demuxer> demuxer);

}  // namespace zerorun::io::av
