// The stream time that the player shows now.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <mutex>

namespace zerorun::app {

/// Seconds of the stream. They advance with the steady clock times the speed, or are held.
/// Thread-safe: the decoders ask it which frames are too late.
class MediaClock {
 public:
  void run_from(double stream_seconds) {
    const std::lock_guard lock(mutex_);
    base_ = stream_seconds;
    since_ = Clock::now();
    held_ = false;
  }
  /// Stops the clock at now().
  void hold() {
    const std::lock_guard lock(mutex_);
    base_ = now_locked();
    held_ = true;
  }
  /// Moves a running clock by `seconds`: the sound is the master of the pictures.
  void steer(double seconds) {
    const std::lock_guard lock(mutex_);
    if (!held_) base_ += seconds;
  }
  struct State {
    double now, speed;
    bool is_running;
  };
  State state() const {
    const std::lock_guard lock(mutex_);
    return {now_locked(), speed_, !held_};
  }
  double now() const {
    const std::lock_guard lock(mutex_);
    return now_locked();
  }
  double speed() const {
    const std::lock_guard lock(mutex_);
    return speed_;
  }
  void set_speed(double speed) {
    const std::lock_guard lock(mutex_);
    base_ = now_locked();
    since_ = Clock::now();
    speed_ = speed;
  }

  /// Whether a frame that ends at `end` cannot be decoded before then. False while held.
  bool is_too_late(double end, double decode_seconds) const {
    const std::lock_guard lock(mutex_);
    return !held_ && end <= now_locked() + decode_seconds * speed_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  double now_locked() const {
    return held_ ? base_
                 : base_ + std::chrono::duration<double>(Clock::now() - since_).count() * speed_;
  }

  mutable std::mutex mutex_;
  double base_ = 0.0;  // stream time at `since_`
  Clock::time_point since_ = Clock::now();
  double speed_ = 1.0;
  bool held_ = true;
};

}  // namespace zerorun::app
