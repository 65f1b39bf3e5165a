// When each frame is shown: the clock, seeking, stepping, loops. Independent of windows.
// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "apps/common/process.hpp"
#include "apps/play/decode_ahead.hpp"
#include "apps/play/session.hpp"

namespace zerorun::app {

class Playback {
 public:
  /// The first pictures are decoded at 1 / `scale`.
  Playback(PlaySession& session, const PlayOptions& options, int scale)
      : session_(session), paused_(options.paused), loops_(options.loop) {
    clock_.set_speed(options.speed);
    session_.set_scale(scale);
    session_.start(&clock_);
  }
  ~Playback() { session_.stop(); }  // the decoders use the clock
  Playback(const Playback&) = delete;
  Playback& operator=(const Playback&) = delete;

  /// Shows the frame that is due. True if the picture changed. Call it again after wait_seconds().
  bool advance() {
    bool changed = awaits_ ? show_awaited() : false;
    if (!awaits_ && !paused_ && !at_end_) changed = show_due() || changed;
    return follow() || changed;
  }
  double wait_seconds() {
    constexpr double kPoll = 0.002, kIdle = 0.05;
    if (awaits_) return kPoll;
    if (paused_ || at_end_) return session_.other && !is_pair() ? kPoll : kIdle;
    const double next = session_.frames->next_time();
    if (next < 0) return kPoll;
    return std::clamp((next - clock_.now()) / clock_.speed(), kPoll, kIdle);
  }

  void pause_or_go_on() {
    if (at_end_) {
      paused_ = false;
      seek_to_start();
      return;
    }
    paused_ = !paused_;
    restart_clock();
  }
  void step_forward() {
    paused_ = true;
    clock_.hold();
    steps_behind_ = awaits_ && seeks_;
    if (!at_end_) awaits_ = true;
  }
  void step_back() {
    if (!shown() || refuses_to_seek()) return;
    paused_ = true;
    seek((target_ ? target_pts_ : shown_.pts) - 1, std::max(0.0, shown_.at - shown_.duration));
  }
  void seek_by(double seconds) { seek_to(position() + seconds); }
  /// `seconds` after the first frame.
  void seek_to(double seconds) {
    if (!shown() || refuses_to_seek()) return;
    double to = std::max(0.0, seconds);
    const double duration = session_.input->duration_seconds();
    if (duration > 0) to = std::min(to, duration);
    seek(session_.input->pts_at(to), to);
  }
  void seek_to_start() {
    if (!refuses_to_seek()) seek(session_.input->info().first_pts, 0.0);
  }
  void seek_to_end() {
    if (refuses_to_seek()) return;
    const double duration = session_.input->duration_seconds();
    seek(INT64_MAX, duration > 0 ? std::optional(duration) : std::nullopt);
  }
  void set_speed(double speed) { clock_.set_speed(std::clamp(speed, kSlowest, kFastest)); }
  bool toggle_loop() { return loops_ = !loops_; }
  /// Both return the mark; 0 if there is none.
  double mark_a() {
    if (shown()) a_ = shown_.at;
    if (shown() && b_ && *b_ < *a_) b_.reset();
    return a_.value_or(0);
  }
  double mark_b() {
    if (!shown() || refuses_to_seek()) return b_.value_or(0);
    b_ = shown_.at;
    if (!a_ || *a_ > *b_) a_ = 0.0;
    return *b_;
  }
  void clear_marks() {
    a_.reset();
    b_.reset();
  }

  MediaClock& clock() noexcept { return clock_; }
  /// Null if none was shown yet.
  PlayFrame* shown() noexcept { return shown_count_ > 0 ? &shown_ : nullptr; }
  const PlayFrame* shown() const noexcept { return shown_count_ > 0 ? &shown_ : nullptr; }
  /// The frame of --compare; null if none was read yet.
  const PlayFrame* other_shown() const noexcept { return has_other_ ? &other_shown_ : nullptr; }
  bool is_pair() const noexcept {
    return shown() && has_other_ && std::abs(shown_.at - other_shown_.at) <= 0.5 * shown_.duration;
  }
  bool is_paused() const noexcept { return paused_; }
  bool is_at_end() const noexcept { return at_end_; }
  bool is_still() const noexcept { return paused_ || at_end_; }
  /// The frame that was asked for last is not there yet.
  bool is_seeking() const noexcept { return target_.has_value(); }
  /// Shown, or sought.
  double position() const noexcept { return target_.value_or(shown_.at); }
  /// Frames up to this time are decoded and wait to be shown.
  double decoded_until() const {
    if (!shown()) return 0;
    const int waiting = session_.frames->waiting();
    const double next = session_.frames->next_time();
    if (waiting == 0 || next < 0) return shown_.at + shown_.duration;
    return next + waiting * session_.input->frame_seconds();
  }
  bool loops() const noexcept { return loops_; }
  double speed() const { return clock_.speed(); }
  std::optional<double> a() const noexcept { return a_; }
  std::optional<double> b() const noexcept { return b_; }
  std::int64_t shown_count() const noexcept { return shown_count_; }
  std::int64_t late_count() const noexcept { return late_count_; }
  double mean_bits_per_second() const noexcept { return bits_per_second_; }
  /// A message for the user, returned once; else empty.
  std::string take_message() { return std::exchange(message_, {}); }
  const Status& first_problem() const noexcept { return first_problem_; }

 private:
  /// Times are sums of fractions, so they are compared with this tolerance.
  static constexpr double kEpsilon = 1e-6;

  /// Shows the first frame after the start, a seek or a step, and starts the clock with it.
  bool show_awaited() {
    DecodeAhead& frames = *session_.frames;
    while (frames.peek() != nullptr) {
      frames.take(taken_);
      if (!has_picture(taken_)) continue;
      show(taken_);
      end_seek();
      awaits_ = std::exchange(steps_behind_, false);
      restart_clock();
      if (std::exchange(resync_other_, false) && session_.other && session_.other->can_seek())
        session_.other_frames->seek(session_.other->pts_at(shown_.at));
      return true;
    }
    if (!frames.is_over()) return false;
    end_seek();
    awaits_ = steps_behind_ = false;
    at_end_ = true;
    clock_.hold();
    return true;
  }
  /// Shows the last frame that is due. Frames before it are too late and are not shown.
  bool show_due() {
    DecodeAhead& frames = *session_.frames;
    const double now = clock_.now();
    bool is_due = false;
    for (const PlayFrame* next = frames.peek(); next != nullptr; next = frames.peek()) {
      if (next->problem && (next->at > now || (b_ && next->at > *b_ + kEpsilon))) break;
      frames.take(taken_);
      if (!has_picture(taken_)) continue;
      if (std::exchange(is_due, true)) ++late_count_;
      std::swap(due_, taken_);
    }
    if (is_due) show(due_);
    watch_starvation();
    return end_of_range() || is_due;
  }
  /// Loops or stops at B or at the end of the input, after the duration of the last frame.
  bool end_of_range() {
    DecodeAhead& frames = *session_.frames;
    const double now = clock_.now();
    if (a_ && b_) {
      const double next = frames.next_time();
      const bool is_past = next > *b_ + kEpsilon && now >= next;
      if (is_past || (frames.is_over() && shown() && now >= shown_.at + shown_.duration)) {
        seek(session_.input->pts_at(*a_), *a_);
        return true;
      }
    }
    if (!frames.is_over() || (shown() && now < shown_.at + shown_.duration)) return false;
    if (const Status problem = frames.counts().read_problem; !problem) message_ = problem.message();
    if (loops_ && session_.input->can_seek()) {
      seek_to_start();
      return true;
    }
    at_end_ = true;
    clock_.hold();
    return true;
  }
  /// Stops the clock while the input delivers nothing: otherwise all later frames would be too
  /// late.
  void watch_starvation() {
    constexpr double kLongest = 0.2;  // seconds
    if (!session_.frames->is_starved()) {
      starved_.reset();
    } else if (!starved_) {
      starved_.emplace();
    } else if (starved_->seconds() > kLongest) {
      clock_.hold();
      awaits_ = true;
    }
  }
  /// Finds the frame of the other input for the time that is shown.
  bool follow() {
    if (!session_.other || !shown()) return false;
    DecodeAhead& frames = *session_.other_frames;
    bool changed = false;
    for (const PlayFrame* next = frames.peek(); next != nullptr; next = frames.peek()) {
      const double slack = 0.5 * std::min(next->duration, shown_.duration);
      if (next->problem && next->at > shown_.at + slack) break;
      frames.take(other_taken_);
      if (!other_taken_.problem) continue;
      std::swap(other_shown_, other_taken_);
      has_other_ = changed = true;
    }
    return changed;
  }
  /// Leaves the frame before in `frame`.
  void show(PlayFrame& frame) {
    std::swap(shown_, frame);
    ++shown_count_;
    at_end_ = false;
    if (shown_.jpeg.empty() || shown_.duration <= 0) return;
    const double bits = 8.0 * static_cast<double>(shown_.jpeg.size()) / shown_.duration;
    constexpr double kWeight = 0.05;  // of the last frame in the mean
    bits_per_second_ =
        bits_per_second_ == 0 ? bits : bits_per_second_ + kWeight * (bits - bits_per_second_);
  }
  /// If the frame has no picture, sets the message.
  bool has_picture(const PlayFrame& frame) {
    if (frame.problem) return true;
    if (first_problem_) first_problem_ = frame.problem;
    message_ = fmt::format("frame {}: {}", frame.index, frame.problem.message());
    console::detail(frame.name + ": " + message_);
    return false;
  }
  void seek(std::int64_t pts, std::optional<double> target) {
    clock_.hold();
    session_.frames->seek(pts);
    target_ = target;
    target_pts_ = pts;
    awaits_ = seeks_ = true;
    at_end_ = steps_behind_ = false;
    resync_other_ = true;
  }
  void end_seek() {
    seeks_ = false;
    target_.reset();
  }
  void restart_clock() {
    starved_.reset();
    if (is_still() || !shown()) {
      clock_.hold();
    } else {
      clock_.run_from(shown_.at);
    }
  }
  bool refuses_to_seek() {
    if (session_.input->can_seek()) return false;
    message_ = "a pipe cannot be read backwards";
    return true;
  }

  PlaySession& session_;
  MediaClock clock_;
  PlayFrame shown_, other_shown_, taken_, other_taken_, due_;
  bool has_other_ = false;
  bool paused_;
  bool at_end_ = false;
  bool awaits_ = true;            // the next frame is shown as soon as it is decoded
  bool seeks_ = false;            // that frame is the one of a seek
  bool steps_behind_ = false;     // then the next frame is shown, too
  bool resync_other_ = false;     // the other input seeks to the time of the awaited frame
  std::optional<double> target_;  // of the current seek
  std::int64_t target_pts_ = 0;
  std::optional<double> a_, b_;
  bool loops_;
  std::optional<Stopwatch> starved_;
  std::int64_t shown_count_ = 0, late_count_ = 0;
  double bits_per_second_ = 0;
  std::string message_;
  Status first_problem_;
};

}  // namespace zerorun::app
