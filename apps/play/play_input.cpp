// The input of `zerorun play`: opening it and reading frames.
// SPDX-License-Identifier: MIT
#include "apps/play/play_input.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "apps/common/failure.hpp"
#include "apps/common/inputs.hpp"
#include "apps/common/pixel_limit.hpp"

namespace zerorun::app {
namespace {

/// The name of the sampling factors; 2x2, 1x2, 1x2, which FFmpeg writes, is 4:2:2 too.
std::string sampling_of(const StreamInfo& stream) {
  if (stream.color == ColorModel::gray) return "gray";
  if (stream.color == ColorModel::rgb) return "rgb";
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
  frame.name = packets_ ? packets_->last_name() : frames_->last_name();
  if (more && !*more) return more;
  frame.index = next_index_++;
  if (!more) return more;
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
  const auto index = packets_ ? packets_->seek(pts) : frames_->seek(pts);
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

}  // namespace zerorun::app
