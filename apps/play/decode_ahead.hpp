// The input of the player, its frames decoded ahead of their time, and the stream time of now.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "apps/common/options.hpp"
#include "codec/base/flight_ring.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/frame.hpp"
#include "zerorun/source.hpp"

namespace zerorun::app {

/// The pixel format that the player asks for.
enum class Pixels {
  shown,   ///< yuv420p and gray8 as they are, all others as bgrx32
  stored,  ///< as the input stores them
  rgb,     ///< bgrx32
};

struct PlayFrame {
  std::string name;
  std::vector<std::byte> jpeg;  ///< as it is in the input; empty if the input is no JPEG
  Frame frame;                  ///< the picture at 1 / `scale`
  int width = 0, height = 0;    ///< of the picture
  int scale = 1;
  std::int64_t index = 0;  ///< in the input, counted from 0
  std::int64_t pts = 0;    ///< in the input's time base
  double at = 0.0;         ///< seconds after the first frame
  double duration = 0.0;   ///< seconds
  double decode_ms = 0.0;  ///< 0 if the input delivers decoded frames
  bool is_first = false;   ///< after the start or a seek: shown even if it is late
  DecodeReport report;
  Status problem;  ///< why there is no picture
};

/// The format in which a picture is asked for, if the input stores it as `stored`.
PixelFormat wanted_format(PixelFormat stored, Pixels pixels) noexcept;

/// Decodes the JPEG of a frame once more, on the CPU. It was decoded before, so it has no limits.
Result<Frame> decode_again(const PlayFrame& shown, PixelFormat format, int scale = 1);

/// After the constructor only one thread, the reader, may call read() and seek(). Any thread may
/// call the other members.
class PlayInput {
 public:
  /// Opens the input and reads its first frame ahead. Ends the command on errors.
  PlayInput(const InputOptions& input, const DeviceOptions& device, Pixels pixels);

  const io::SourceInfo& info() const { return source().info(); }
  const std::string& name() const noexcept { return input_.name; }
  bool has_packets() const noexcept { return packets_ != nullptr; }
  bool can_seek() const { return source().can_seek(); }
  /// --fps sets another rate than the input's own, at which its sound could not be in step.
  bool has_own_rate() const noexcept { return input_.frame_rate.known(); }
  bool is_images() const;  ///< a single picture or a sequence of them
  int width() const noexcept { return width_; }
  int height() const noexcept { return height_; }
  /// Of the first frame, as it is asked for.
  PixelFormat format() const noexcept { return format_; }
  /// "4:2:0", for people.
  const std::string& sampling() const noexcept { return sampling_; }
  double frame_seconds() const noexcept;  ///< of one frame at the input's rate
  double duration_seconds() const;        ///< 0 = not known

  /// Reads the next frame; a packet is not decoded. False at the end. After an error the next call
  /// continues with the next frame.
  Result<bool> read(PlayFrame& frame);
  /// The next read() gives the frame that is shown at `pts`.
  Status seek(std::int64_t pts);
  std::int64_t pts_at(double seconds) const noexcept;

 private:
  void open_frames();
  void read_shape(Pixels pixels);
  Result<bool> read_next(PlayFrame& frame);
  io::Source& source() const {
    if (packets_) return *packets_;
    return *frames_;
  }
  double tick_seconds() const noexcept { return info().time_base.value(); }

  InputOptions input_;
  io::SourceOptions options_;
  std::unique_ptr<io::PacketSource> packets_;
  std::unique_ptr<io::FrameSource> frames_;  // without packets
  std::optional<PlayFrame> first_;
  Status first_status_;
  std::int64_t next_index_ = 0;
  int width_ = 0, height_ = 0;
  PixelFormat format_ = PixelFormat::yuv420p;
  std::string sampling_;
};

/// Seconds of the stream. They advance with the steady clock times the speed, or are held.
/// Thread-safe: the decoders ask it which frames are too late.
class MediaClock {
 public:
  struct State {
    double now = 0.0, speed = 1.0;
    bool is_running = false;
  };
  State state() const {
    const std::lock_guard lock(mutex_);
    return state_now();
  }
  double now() const { return state().now; }
  double speed() const { return state().speed; }
  /// Whether a frame that ends at `end` cannot be decoded before then. False while held.
  bool is_too_late(double end, double decode_seconds) const {
    const State at = state();
    return at.is_running && end <= at.now + decode_seconds * at.speed;
  }

  void run_from(double stream_seconds) {
    change([=](State& state) { state = {stream_seconds, state.speed, true}; });
  }
  /// Stops the clock at now().
  void hold() {
    change([](State& state) { state.is_running = false; });
  }
  /// Moves a running clock by `seconds`: the sound is the master of the pictures.
  void steer(double seconds) {
    change([=](State& state) { state.now += state.is_running ? seconds : 0; });
  }
  void set_speed(double speed) {
    change([=](State& state) { state.speed = speed; });
  }

 private:
  using Clock = std::chrono::steady_clock;
  State state_now() const {
    State state = at_;
    if (state.is_running)
      state.now += std::chrono::duration<double>(Clock::now() - since_).count() * state.speed;
    return state;
  }
  template <typename Change>
  void change(const Change& change) {
    const std::lock_guard lock(mutex_);
    at_ = state_now();
    since_ = Clock::now();
    change(at_);
  }

  mutable std::mutex mutex_;
  State at_;  // at `since_`
  Clock::time_point since_ = Clock::now();
};

/// What happened to the frames so far.
struct DecodeCounts {
  std::int64_t decoded = 0;
  std::int64_t dropped = 0;  ///< too late, and therefore never decoded
  std::int64_t concealed = 0;
  std::int64_t on_cpu = 0;  ///< with scans that the CPU decoded beside a GPU
  std::int64_t broken = 0;  ///< without a picture
  std::int64_t bytes = 0;   ///< of the JPEG streams that were decoded
  double total_ms = 0, max_ms = 0;
  double recent_ms = 0;  ///< moving average of the time that decoding a frame takes
};

/// One thread reads, others decode, and the caller takes the frames in order. The number of frames
/// and bytes in flight is bounded. One thread makes all calls.
class DecodeAhead {
 public:
  /// Where and how frames are decoded.
  struct Decoding {
    Backend backend = Backend::cpu;
    DeviceOptions device;
    Pixels pixels = Pixels::shown;
    StreamLimits limits;
    int scale = 1;  ///< JPEG streams are decoded at 1 / `scale`
  };

  /// Frames that are too late by `clock` are dropped before they are decoded; with a null `clock`
  /// none are.
  DecodeAhead(std::shared_ptr<PlayInput> input, const Decoding& decoding, const MediaClock* clock);
  ~DecodeAhead();

  /// Drops the frames in flight and continues with the frame that is shown at `pts`.
  void seek(std::int64_t pts);
  /// Applies to frames that no thread has begun to decode.
  void set_decoding(const Decoding& decoding);

  /// The next frame if it is decoded, with or without a picture; null if not. Skips dropped ones.
  const PlayFrame* peek() const { return ring_.oldest(true); }
  /// When the next frame is shown, also while it is being decoded; < 0 = not known.
  double next_time() const;
  /// The frame of peek(), which must not be null.
  std::unique_ptr<PlayFrame> take();
  /// Gives the memory of a frame back.
  void recycle(std::unique_ptr<PlayFrame> frame);
  /// Waits until peek() or is_over() changes, but at most `seconds`.
  void wait(double seconds) { ring_.wait_ready(std::chrono::duration<double>(seconds)); }

  /// True after the last frame was taken.
  bool is_over() const;
  /// No frame is in flight, and the input has not ended: it is slower than the player.
  bool is_starved() const;
  int waiting() const { return ring_.flight().finished; }  ///< frames decoded and not yet taken
  DecodeCounts counts() const;
  /// The devices that failed since the last set_decoding(), and why.
  std::vector<LostDevice> lost_devices() const;
  /// Why reading stopped before the end of the input; ok if it did not.
  Status read_problem() const;

 private:
  struct Shared;
  struct Decoders;
  bool decode(PlayFrame& frame, int lane);

  std::shared_ptr<Shared> shared_;  // with the reader thread
  const MediaClock* clock_;
  std::vector<std::unique_ptr<PlayFrame>> spare_;
  int seeks_ = 0;
  FlightRing<PlayFrame> ring_;
};

}  // namespace zerorun::app
