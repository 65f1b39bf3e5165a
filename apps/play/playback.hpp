// When each frame is shown: the clock, seeking, stepping, loops. Independent of windows.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "apps/play/decode_ahead.hpp"
#include "apps/play/session.hpp"

namespace zerorun::app {

class Playback {
 public:
  Playback(PlaySession& session, const PlayOptions& options);
  ~Playback() { session_.stop(); }  // the decoders use the clock
  Playback(const Playback&) = delete;
  Playback& operator=(const Playback&) = delete;

  /// Shows the frame that is due. True if the picture changed. Call it again after wait_seconds().
  bool advance();
  double wait_seconds();

  void pause_or_go_on();
  void step_forward();
  void step_back();
  void seek_by(double seconds);
  /// `seconds` after the first frame.
  void seek_to(double seconds);
  void seek_to_start();
  void seek_to_end();
  void scale_speed(double factor);
  void usual_speed() { clock_.set_speed(1.0); }
  void toggle_loop() { loops_ = !loops_; }
  void mark_a();
  void mark_b();
  void clear_marks();

  MediaClock& clock() noexcept { return clock_; }
  PlayFrame* shown() noexcept { return shown_.get(); }
  const PlayFrame* shown() const noexcept { return shown_.get(); }
  /// The frame of --compare; null if none was read yet.
  const PlayFrame* other_shown() const noexcept { return other_shown_.get(); }
  bool is_pair() const noexcept;
  bool is_paused() const noexcept { return paused_; }
  bool is_at_end() const noexcept { return at_end_; }
  /// The frame that was asked for last is not there yet.
  bool is_seeking() const noexcept { return target_.has_value(); }
  double position() const noexcept;  ///< shown, or sought
  /// Frames up to this time are decoded and wait to be shown.
  double decoded_until() const;
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
  using FramePtr = std::unique_ptr<PlayFrame>;

  bool show_awaited();
  bool show_due();
  bool end_of_range();
  void watch_starvation();
  bool follow();
  void show(FramePtr frame);
  bool has_picture(FramePtr& frame);
  void seek(std::int64_t pts, std::optional<double> target);
  void end_seek();
  void restart_clock();
  bool refuses_to_seek();

  PlaySession& session_;
  MediaClock clock_;
  FramePtr shown_, other_shown_;
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
