// SPDX-License-Identifier: MIT
#include "apps/play/decode_ahead.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include "apps/common/figures.hpp"
#include "apps/common/input_output.hpp"
#include "apps/common/process.hpp"
#include "codec/base/try.hpp"

namespace zerorun::app {

namespace {

/// The name of the sampling factors; 2x2, 1x2, 1x2, which FFmpeg writes, is 4:2:2 too.
std::string sampling_of(const StreamInfo& stream) {
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

/// For an input without a frame rate. FFmpeg uses it for images and raw Motion JPEG.
constexpr double kUsualRate = 25.0;

}  // namespace

PixelFormat wanted_format(PixelFormat stored, Pixels pixels) noexcept {
  const bool is_shown = stored == PixelFormat::yuv420p || stored == PixelFormat::gray8;
  const bool as_it_is = pixels == Pixels::stored || (pixels == Pixels::shown && is_shown);
  return as_it_is ? stored : PixelFormat::bgrx32;
}

Result<Frame> decode_again(const PlayFrame& shown, PixelFormat format, int scale) {
  DecodeParams params;
  params.backend = Backend::cpu;
  params.limits = StreamLimits::any_size();
  ZR_LET(decoder, Decoder::create(params));
  ZR_TRY(decoder.select(scale));
  Frame frame;
  const auto report = decoder.decode(shown.jpeg, format, frame);
  if (!report) return report.status();
  return frame;
}

PlayInput::PlayInput(const InputOptions& input, const DeviceOptions& device, Pixels pixels)
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

void PlayInput::open_frames() {
  packets_.reset();
  frames_ = app::open_frames(input_, options_);
}

/// Takes size and format of the first frame, from its own headers if it is JPEG.
void PlayInput::read_shape(Pixels pixels) {
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

bool PlayInput::is_images() const {
  return info().container == "image" || info().container == "image sequence";
}

double PlayInput::frame_seconds() const noexcept {
  const io::Rational rate = info().frame_rate;
  return 1.0 / (rate.known() ? rate.value() : kUsualRate);
}

double PlayInput::duration_seconds() const {
  const io::SourceInfo& about = info();
  if (about.frame_count >= 0 && !about.variable_frame_rate)
    return static_cast<double>(about.frame_count) * frame_seconds();
  const double before = static_cast<double>(about.first_pts) * tick_seconds();
  return std::max(about.duration_seconds - before, 0.0);
}

Result<bool> PlayInput::read_next(PlayFrame& frame) {
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

Result<bool> PlayInput::read(PlayFrame& frame) {
  if (!first_) return read_next(frame);
  std::swap(frame, *first_);
  first_.reset();
  if (!first_status_) return std::exchange(first_status_, Status::ok());
  return true;
}

Status PlayInput::seek(std::int64_t pts) {
  first_.reset();
  const auto index = source().seek(pts);
  if (!index) return index.status();
  next_index_ = *index;
  return Status::ok();
}

std::int64_t PlayInput::pts_at(double seconds) const noexcept {
  // Times are rounded sums of ticks: the least bit too early would be the frame before.
  const double ticks = seconds / tick_seconds() + 1e-3;
  constexpr double kFar = 4e18;
  return info().first_pts + static_cast<std::int64_t>(std::clamp(std::floor(ticks), -kFar, kFar));
}

namespace {

using Clock = std::chrono::steady_clock;

/// After this many errors in a row the input is taken to have ended.
constexpr int kMaxFailuresInARow = 100;

/// JPEG streams read ahead: more than a second of most videos, and little memory beside pictures.
constexpr int kMaxQueued = 128;
constexpr std::int64_t kMaxQueuedBytes = std::int64_t{64} << 20;

/// Memory for decoded pictures. It holds a few frames of 8K video.
constexpr std::int64_t kPictureBytes = std::int64_t{512} << 20;

/// A frame is shown at least this often, however late all frames are.
constexpr std::chrono::milliseconds kLongestStill{400};

int pictures_that_fit(const PlayInput& input, int lanes) {
  const std::int64_t pixels = std::int64_t{input.width()} * input.height();
  const std::int64_t each = std::max<std::int64_t>(pixels * 4, 1);
  return static_cast<int>(std::clamp<std::int64_t>(kPictureBytes / each, 3, 2 * lanes + 4));
}

bool ends_reading(const Status& status) noexcept {
  return status.code() == Errc::read_failed || status.code() == Errc::out_of_memory;
}

}  // namespace

/// The decoders of all lanes, for one way to decode.
struct DecodeAhead::Decoders {
  Decoders(const Decoding& decoding, int lane_count, bool is_single)
      : how(decoding),
        device_set(coder_devices(decoding.backend, decoding.device)),
        lanes(device_set, lane_count,
              [how = decoding, is_single](int device) { return make(how, is_single, device); }) {}

  static Result<Decoder> make(const Decoding& how, bool is_single, int device) {
    DecodeParams params;
    params.backend = how.backend;
    params.limits = how.limits;
    params.device = device == kCpuDevice ? 0 : device;
    params.threads = is_single ? how.device.threads : 1;
    auto decoder = Decoder::create(params);
    if (decoder) ZR_TRY(decoder->select(how.scale));
    return decoder;
  }
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
struct DecodeAhead::Shared {
  Shared(std::shared_ptr<PlayInput> in, const Decoding& how)
      : input(std::move(in)),
        has_packets(input->has_packets()),
        is_single(input->info().frame_count == 1),
        lanes(is_single
                  ? 1
                  : std::max(worker_count(how.device, Backend::cpu), how.device.device_count())),
        max_pictures(pictures_that_fit(*input, worker_count(how.device, Backend::cpu))),
        decoders(std::make_shared<Decoders>(how, lanes, is_single)) {}

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
    if (more) {
      failures_in_a_row = 0;
      if (has_packets) return JobRead::queued;
      count(frame);
      return JobRead::done;
    }
    frame.problem = more.status();
    count(frame);
    if (!ends_reading(more.status()) && ++failures_in_a_row < kMaxFailuresInARow)
      return JobRead::done;
    read_problem = more.status();
    return JobRead::last;
  }
  bool is_too_late(const PlayFrame& frame, const MediaClock* clock) const {
    if (clock == nullptr || frame.is_first) return false;
    if (!clock->is_too_late(frame.at + frame.duration, counts.recent_ms * 1e-3)) return false;
    return working > 0 || Clock::now() - last_done < kLongestStill;
  }
  void count(const PlayFrame& frame) {
    last_done = Clock::now();
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
  static std::int64_t bytes(const PlayFrame& f) { return static_cast<std::int64_t>(f.jpeg.size()); }

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
  Status read_problem;
  std::vector<Frame> spare_pictures;
  int working = 0;  // lanes that decode
  Clock::time_point last_done = Clock::now();
  DecodeCounts counts;
};

DecodeAhead::DecodeAhead(std::shared_ptr<PlayInput> input, const Decoding& decoding,
                         const MediaClock* clock)
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

DecodeAhead::~DecodeAhead() = default;

bool DecodeAhead::decode(PlayFrame& frame, int lane) {
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

void DecodeAhead::seek(std::int64_t pts) {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->seek = {pts, ++seeks_};
    shared_->read_problem = Status::ok();
  }
  ring_.discard(false);
}

void DecodeAhead::set_decoding(const Decoding& decoding) {
  auto fresh = std::make_shared<Decoders>(decoding, shared_->lanes, shared_->is_single);
  {
    const std::lock_guard lock(shared_->mutex);
    std::swap(shared_->decoders, fresh);
    shared_->counts.recent_ms = 0;
  }
  ring_.use_lanes(worker_count(decoding.device, decoding.backend));
}

double DecodeAhead::next_time() const {
  const PlayFrame* const next = ring_.oldest(false);
  return next != nullptr ? next->at : -1.0;
}

std::unique_ptr<PlayFrame> DecodeAhead::take() {
  auto frame = spare_.empty() ? std::make_unique<PlayFrame>() : std::move(spare_.back());
  if (!spare_.empty()) spare_.pop_back();
  ring_.receive(false, [&](PlayFrame& next) {
    shared_->queued_bytes -= Shared::bytes(next);
    std::swap(*frame, next);
  });
  return frame;
}

void DecodeAhead::recycle(std::unique_ptr<PlayFrame> frame) {
  if (!frame) return;
  shared_->take_picture_back(*frame);
  spare_.push_back(std::move(frame));
}

bool DecodeAhead::is_over() const {
  const auto flight = ring_.flight();
  return flight.jobs == 0 && flight.ended;
}

bool DecodeAhead::is_starved() const {
  const auto flight = ring_.flight();
  return flight.jobs == 0 && !flight.ended;
}

DecodeCounts DecodeAhead::counts() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->counts;
}

std::vector<LostDevice> DecodeAhead::lost_devices() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->decoders->device_set.lost();
}

Status DecodeAhead::read_problem() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->read_problem;
}

}  // namespace zerorun::app
