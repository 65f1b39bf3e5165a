// The input of the player, its frames decoded ahead of their time, and the stream time of now.
// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/common/figures.hpp"
#include "apps/common/input_output.hpp"
#include "apps/common/options.hpp"
#include "apps/common/process.hpp"
#include "codec/base/flight_ring.hpp"
#include "codec/base/try.hpp"
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
inline PixelFormat wanted_format(PixelFormat stored, Pixels pixels) noexcept {
  const bool is_shown = stored == PixelFormat::yuv420p || stored == PixelFormat::gray8;
  const bool as_it_is = pixels == Pixels::stored || (pixels == Pixels::shown && is_shown);
  return as_it_is ? stored : PixelFormat::bgrx32;
}

/// Decodes the JPEG of a frame once more, on the CPU. It was decoded before, so it has no limits.
inline Result<Frame> decode_again(const PlayFrame& shown, PixelFormat format, int scale = 1) {
  DecodeParams params;
  params.backend = Backend::cpu;
  params.limits = StreamLimits::any_size();
  params.scale = scale;
  ZR_LET(decoder, Decoder::create(params));
  Frame frame;
  ZR_TRY(decoder.decode(shown.jpeg, format, frame).status());
  return frame;
}

/// After the constructor only one thread, the reader, may call read() and seek(). Any thread may
/// call the other members.
class PlayInput {
 public:
  /// Opens the input and reads its first frame ahead. Ends the command on errors.
  PlayInput(const InputOptions& input, const DeviceOptions& device, Pixels pixels)
      : input_(input), options_(source_options(input, device)) {
    if (pixels != Pixels::stored) options_.pixel_format = PixelFormat::bgrx32;
    if (pixels == Pixels::shown)
      options_.accepted_formats = {PixelFormat::yuv420p, PixelFormat::gray8};
    options_.opened = io::opened_file();
    packets_ = open_jpeg_packets(input_, options_);
    if (!packets_) open_frames();
    read_shape(pixels);
    note_cut_input(input_.name, info());
  }

  const io::SourceInfo& info() const { return source().info(); }
  const std::string& name() const noexcept { return input_.name; }
  bool has_packets() const noexcept { return packets_ != nullptr; }
  bool can_seek() const { return source().can_seek(); }
  /// --fps sets another rate than the input's own, at which its sound could not be in step.
  bool has_own_rate() const noexcept { return input_.frame_rate.known(); }
  /// A single picture or a sequence of them.
  bool is_images() const {
    return info().container == "image" || info().container == "image sequence";
  }
  int width() const noexcept { return width_; }
  int height() const noexcept { return height_; }
  /// Of the first frame, as it is asked for.
  PixelFormat format() const noexcept { return format_; }
  /// "4:2:0", for people.
  const std::string& sampling() const noexcept { return sampling_; }
  /// Of one frame at the input's rate; FFmpeg uses 25 for images and raw Motion JPEG, too.
  double frame_seconds() const noexcept {
    const io::Rational rate = info().frame_rate;
    return 1.0 / (rate.known() ? rate.value() : 25.0);
  }
  /// 0 = not known.
  double duration_seconds() const {
    const io::SourceInfo& about = info();
    if (about.frame_count >= 0 && !about.variable_frame_rate)
      return static_cast<double>(about.frame_count) * frame_seconds();
    const double before = static_cast<double>(about.first_pts) * tick_seconds();
    return std::max(about.duration_seconds - before, 0.0);
  }

  /// Reads the next frame; a packet is not decoded. False at the end. After an error the next call
  /// continues with the next frame.
  Result<bool> read(PlayFrame& frame) {
    if (!first_) return read_next(frame);
    std::swap(frame, *first_);
    first_.reset();
    if (!first_status_) return std::exchange(first_status_, Status::ok());
    return true;
  }
  /// The next read() gives the frame that is shown at `pts`.
  Status seek(std::int64_t pts) {
    first_.reset();
    ZR_LET(index, source().seek(pts));
    next_index_ = index;
    return Status::ok();
  }
  std::int64_t pts_at(double seconds) const noexcept {
    // Times are rounded sums of ticks: the least bit too early would be the frame before.
    const double ticks = seconds / tick_seconds() + 1e-3;
    constexpr double kFar = 4e18;
    return info().first_pts + static_cast<std::int64_t>(std::clamp(std::floor(ticks), -kFar, kFar));
  }

 private:
  void open_frames() {
    packets_.reset();
    frames_ = app::open_frames(input_, options_);
  }
  /// Takes size and format of the first frame, from its own headers if it is JPEG.
  void read_shape(Pixels pixels) {
    width_ = info().width;
    height_ = info().height;
    format_ = info().format;
    sampling_ = zerorun::name(format_);
    next_index_ = options_.first_frame;
    PlayFrame first;
    Result<bool> more = read_next(first);
    if (more && !*more) fail_without_frames(input_);
    first_status_ = more.status();
    if (packets_ && more) {
      const auto stream = inspect(first.jpeg, options_.limits);
      if (stream && is_field(*stream, info()) && !is_read_once(input_)) {
        open_frames();
        return read_shape(pixels);
      }
      if (stream) {
        width_ = stream->width;
        height_ = stream->height;
        format_ = wanted_format(stored_format(*stream), pixels);
        sampling_ = sampling_of(*stream);
      }
    } else if (more) {
      width_ = first.frame.width();
      height_ = first.frame.height();
    }
    first_ = std::move(first);
  }
  /// The name of the sampling factors; 2x2, 1x2, 1x2, which FFmpeg writes, is 4:2:2 too.
  static std::string sampling_of(const StreamInfo& stream) {
    if (stream.color == ColorModel::gray) return "gray";
    if (stream.color == ColorModel::rgb) return "rgb";
    if (has_inks(stream.color)) return stream.color == ColorModel::ycck ? "ycck" : "cmyk";
    if (stream.subsampling) return std::string(zerorun::name(*stream.subsampling));
    const ComponentInfo& luma = stream.components[0];
    const ComponentInfo& chroma = stream.components[1];
    if (luma.h == 2 * chroma.h && luma.v == chroma.v) return "422";
    if (luma.h == chroma.h && luma.v == chroma.v) return "444";
    return fmt::format("{}x{},{}x{}", luma.h, luma.v, chroma.h, chroma.v);
  }
  Result<bool> read_next(PlayFrame& frame) {
    io::FrameTime time;
    frame.report = {};
    frame.problem = Status::ok();
    frame.decode_ms = 0;
    frame.jpeg.clear();
    const std::int64_t concealed = frames_ ? frames_->concealed_frames() : 0;
    auto more = packets_ ? packets_->read(frame.jpeg, time) : frames_->read(frame.frame, time);
    if (frames_) frame.report.concealed_intervals = frames_->concealed_frames() - concealed;
    frame.name = source().last_name();
    if (more && !*more) return more;
    frame.index = next_index_++;
    if (!more) return more;
    frame.width = frame.frame.width();
    frame.height = frame.frame.height();
    frame.scale = 1;
    frame.pts = time.pts;
    frame.at = static_cast<double>(time.pts - info().first_pts) * tick_seconds();
    const double told = static_cast<double>(time.duration) * tick_seconds();
    frame.duration = told > 0 ? told : frame_seconds();
    return more;
  }
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
  State state_now() const {
    State state = at_;
    if (state.is_running) state.now += since_.seconds() * state.speed;
    return state;
  }
  template <typename Change>
  void change(const Change& change) {
    const std::lock_guard lock(mutex_);
    at_ = state_now();
    since_ = Stopwatch();
    change(at_);
  }

  mutable std::mutex mutex_;
  State at_;  // at the start of `since_`
  Stopwatch since_;
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
  Status read_problem;   ///< why reading stopped before the end of the input; ok if it did not
  std::vector<LostDevice> lost_devices;  ///< that failed while others went on, and why
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
  DecodeAhead(std::shared_ptr<PlayInput> input, const Decoding& decoding, const MediaClock* clock)
      : shared_(std::make_shared<Shared>(std::move(input), decoding)),
        clock_(clock),
        ring_(shared_->has_packets ? kMaxQueued : shared_->max_pictures,
              {.work = [this](PlayFrame& frame, int lane) { return decode(frame, lane); },
               .read = [shared = shared_](PlayFrame& frame,
                                          int seeks) { return shared->read(frame, seeks); },
               .may_read = [shared = shared_] { return shared->queued_bytes < kMaxQueuedBytes; },
               .drop =
                   [shared = shared_](PlayFrame& frame) {
                     shared->queued_bytes -= Shared::bytes(frame);
                     shared->take_picture_back(frame);
                   },
               .left_behind = signals::set_thread_left_behind},
              shared_->max_pictures) {
    ring_.use_lanes(worker_count(decoding.device, decoding.backend));
    ring_.start(shared_->has_packets ? shared_->lanes : 0);
  }

  /// Drops the frames in flight and continues with the frame that is shown at `pts`.
  void seek(std::int64_t pts) {
    {
      const std::lock_guard lock(shared_->mutex);
      shared_->seek = {pts, ++seeks_};
      shared_->counts.read_problem = Status::ok();
    }
    ring_.discard(false);
  }
  /// Applies to frames that no thread has begun to decode.
  void set_decoding(const Decoding& decoding) {
    auto fresh = std::make_shared<Decoders>(decoding, shared_->lanes, shared_->is_single);
    {
      const std::lock_guard lock(shared_->mutex);
      std::swap(shared_->decoders, fresh);
      shared_->counts.recent_ms = 0;
    }
    ring_.use_lanes(worker_count(decoding.device, decoding.backend));
  }

  /// The next frame if it is decoded, with or without a picture; null if not. Skips dropped ones.
  const PlayFrame* peek() const { return ring_.oldest(true); }
  /// When the next frame is shown, also while it is being decoded; < 0 = not known.
  double next_time() const {
    const PlayFrame* const next = ring_.oldest(false);
    return next != nullptr ? next->at : -1.0;
  }
  /// Puts the frame of peek(), which must not be null, into `frame`, whose memory is used again.
  void take(PlayFrame& frame) {
    ring_.receive(false, [&](PlayFrame& next) {
      shared_->queued_bytes -= Shared::bytes(next);
      std::swap(frame, next);
      shared_->take_picture_back(next);
    });
  }
  /// Waits until peek() or is_over() changes, but at most `seconds`.
  void wait(double seconds) { ring_.wait_ready(std::chrono::duration<double>(seconds)); }

  /// True after the last frame was taken.
  bool is_over() const {
    const auto flight = ring_.flight();
    return flight.jobs == 0 && flight.ended;
  }
  /// No frame is in flight, and the input has not ended: it is slower than the player.
  bool is_starved() const {
    const auto flight = ring_.flight();
    return flight.jobs == 0 && !flight.ended;
  }
  int waiting() const { return ring_.flight().finished; }  ///< frames decoded and not yet taken
  /// Devices are those of the last set_decoding().
  DecodeCounts counts() const {
    const std::lock_guard lock(shared_->mutex);
    DecodeCounts counts = shared_->counts;
    counts.lost_devices = shared_->decoders->device_set.lost();
    return counts;
  }

 private:
  /// After this many errors in a row the input is taken to have ended.
  static constexpr int kMaxFailuresInARow = 100;
  /// JPEG streams read ahead: more than a second of most videos, and little memory beside pictures.
  static constexpr int kMaxQueued = 128;
  static constexpr std::int64_t kMaxQueuedBytes = std::int64_t{64} << 20;
  /// Memory for decoded pictures. It holds a few frames of 8K video.
  static constexpr std::int64_t kPictureBytes = std::int64_t{512} << 20;
  /// A frame is shown at least this often, however late all frames are.
  static constexpr double kLongestStill = 0.4;

  /// The decoders of all lanes, for one way to decode.
  struct Decoders {
    Decoders(const Decoding& decoding, int lane_count, bool is_single)
        : how(decoding),
          device_set(coder_devices(decoding.backend, decoding.device)),
          lanes(device_set, lane_count, [how = decoding, is_single](int device) {
            DecodeParams params;
            params.backend = how.backend;
            params.limits = how.limits;
            params.scale = how.scale;
            params.device = device == kCpuDevice ? 0 : device;
            params.threads = is_single ? how.device.threads : 1;
            return Decoder::create(params);
          }) {}

    Status decode(PlayFrame& frame, int lane) {
      return lanes.run(lane, [&](Decoder& decoder, int) -> Status {
        const Stopwatch watch;
        const auto stream = inspect(frame.jpeg, how.limits);
        if (!stream) return stream.status();
        frame.width = stream->width;
        frame.height = stream->height;
        frame.scale = how.scale;
        auto report = decoder.decode(frame.jpeg, wanted_format(stored_format(*stream), how.pixels),
                                     frame.frame);
        frame.decode_ms = watch.seconds() * 1e3;
        if (report) frame.report = *std::move(report);
        return report.status();
      });
    }

    const Decoding how;
    DeviceSet device_set;
    DeviceLanes<Decoder> lanes;
  };

  /// What the threads share. The reader thread may outlive the player in a blocked read.
  struct Shared {
    Shared(std::shared_ptr<PlayInput> in, const Decoding& how)
        : input(std::move(in)),
          has_packets(input->has_packets()),
          is_single(input->info().frame_count == 1),
          lanes(is_single
                    ? 1
                    : std::max(worker_count(how.device, Backend::cpu), how.device.device_count())),
          max_pictures(pictures_that_fit(*input, worker_count(how.device, Backend::cpu))),
          decoders(std::make_shared<Decoders>(how, lanes, is_single)) {}

    static int pictures_that_fit(const PlayInput& input, int lanes) {
      const std::int64_t pixels = std::int64_t{input.width()} * input.height();
      const std::int64_t each = std::max<std::int64_t>(pixels * 4, 1);
      return static_cast<int>(std::clamp<std::int64_t>(kPictureBytes / each, 3, 2 * lanes + 4));
    }
    JobRead read(PlayFrame& frame, int seeks_so_far) {
      std::optional<std::int64_t> target;
      {
        const std::lock_guard lock(mutex);
        if (seek && seek->number <= seeks_so_far) {
          target = seek->pts;
          seek.reset();
          next_is_first = true;
          failures_in_a_row = 0;
        }
        if (!has_packets) lend_picture(frame);
      }
      const Result<bool> more = guarded([&]() -> Result<bool> {
        if (target) ZR_TRY(input->seek(*target));
        return input->read(frame);
      });
      if (more && !*more) return JobRead::none;
      queued_bytes += bytes(frame);
      const std::lock_guard lock(mutex);
      if (seek) return JobRead::done;  // the ring drops it
      frame.is_first = std::exchange(next_is_first, false);
      if (more) failures_in_a_row = 0;
      if (more && has_packets) return JobRead::queued;
      if (!more) frame.problem = more.status();
      count(frame);
      const Errc code = more.status().code();
      const bool is_fatal = code == Errc::read_failed || code == Errc::out_of_memory;
      if (more || (!is_fatal && ++failures_in_a_row < kMaxFailuresInARow)) return JobRead::done;
      counts.read_problem = more.status();
      return JobRead::last;
    }
    bool is_too_late(const PlayFrame& frame, const MediaClock* clock) const {
      if (clock == nullptr || frame.is_first) return false;
      const MediaClock::State now = clock->state();
      const double ready = now.now + counts.recent_ms * 1e-3 * now.speed;
      if (!now.is_running || frame.at + frame.duration > ready) return false;
      return working > 0 || since_done.seconds() < kLongestStill;
    }
    void count(const PlayFrame& frame) {
      since_done = Stopwatch();
      if (!frame.problem) {
        ++counts.broken;
        return;
      }
      ++counts.decoded;
      if (frame.report.is_concealed()) ++counts.concealed;
      if (frame.report.cpu_scans > 0) ++counts.on_cpu;
      counts.bytes += bytes(frame);
      if (!has_packets) return;
      counts.total_ms += frame.decode_ms;
      counts.max_ms = std::max(counts.max_ms, frame.decode_ms);
      constexpr double kWeight = 0.1;  // of the newest frame
      counts.recent_ms = counts.recent_ms == 0
                             ? frame.decode_ms
                             : counts.recent_ms + kWeight * (frame.decode_ms - counts.recent_ms);
    }
    /// Gives `frame` memory for a picture; streams that wait for a decoder have none.
    void lend_picture(PlayFrame& frame) {
      if (spare_pictures.empty()) return;
      frame.frame = std::move(spare_pictures.back());
      spare_pictures.pop_back();
    }
    void take_picture_back(PlayFrame& frame) {
      const std::lock_guard lock(mutex);
      if (frame.frame.width() > 0 && std::ssize(spare_pictures) < max_pictures)
        spare_pictures.push_back(std::move(frame.frame));
      frame.frame = Frame();
    }
    static std::int64_t bytes(const PlayFrame& frame) {
      return static_cast<std::int64_t>(frame.jpeg.size());
    }

    const std::shared_ptr<PlayInput> input;  // the reader's, after the start
    const bool has_packets, is_single;
    const int lanes, max_pictures;
    std::atomic<std::int64_t> queued_bytes{0};  // of the JPEG streams in the ring

    // The reader's.
    bool next_is_first = true;
    int failures_in_a_row = 0;

    struct Seek {
      std::int64_t pts;
      int number;  // how many seeks there were, with this one
    };
    std::mutex mutex;  // guards what follows
    std::shared_ptr<Decoders> decoders;
    std::optional<Seek> seek;  // that the reader has not seen yet
    std::vector<Frame> spare_pictures;
    int working = 0;  // lanes that decode
    Stopwatch since_done;
    DecodeCounts counts;
  };

  bool decode(PlayFrame& frame, int lane) {
    Shared& s = *shared_;
    std::unique_lock lock(s.mutex);
    if (s.is_too_late(frame, clock_)) {
      ++s.counts.dropped;
      return false;
    }
    ++s.working;
    s.lend_picture(frame);
    std::shared_ptr<Decoders> decoders = s.decoders;
    lock.unlock();
    Status status = guarded([&] { return decoders->decode(frame, lane); });
    decoders.reset();  // the last lane that used old ones releases them, without the lock
    lock.lock();
    frame.problem = std::move(status);
    --s.working;
    s.count(frame);
    return true;
  }

  std::shared_ptr<Shared> shared_;  // with the reader thread
  const MediaClock* clock_;
  int seeks_ = 0;
  FlightRing<PlayFrame> ring_;
};

}  // namespace zerorun::app
