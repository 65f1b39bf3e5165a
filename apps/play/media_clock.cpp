// The stream time that the player shows now.
// SPDX-License-Identifier: MIT
#include "apps/play/media_clock.hpp"

namespace zerorun::app {

double MediaClock::now_locked() const {
  if (held_) return base_;
  return base_ + std::chrono::duration<double>(Clock::now() - since_).count() * speed_;
}

void MediaClock::run_from(double stream_seconds) {
  const std::lock_guard lock(mutex_);
  base_ = stream_seconds;
  since_ = Clock::now();
  held_ = false;
}

void MediaClock::hold() {
  const std::lock_guard lock(mutex_);
  base_ = now_locked();
  held_ = true;
}

bool MediaClock::is_held() const {
  const std::lock_guard lock(mutex_);
  return held_;
}

double MediaClock::now() const {
  const std::lock_guard lock(mutex_);
  return now_locked();
}

double MediaClock::speed() const {
  const std::lock_guard lock(mutex_);
  return speed_;
}

void MediaClock::set_speed(double speed) {
  const std::lock_guard lock(mutex_);
  base_ = now_locked();
  since_ = Clock::now();
  speed_ = speed;
}

bool MediaClock::is_too_late(double end, double decode_seconds) const {
  const std::lock_guard lock(mutex_);
  return !held_ && end <= now_locked() + decode_seconds * speed_;
}

}  // namespace zerorun::app
