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
  void run_from(double stream_seconds);
  /// Stops the clock at now().
  void hold();
  bool is_held() const;
  double now() const;
  double speed() const;
  void set_speed(double speed);

  /// Whether a frame that ends at `end` would be decoded only after that. Never while held.
  bool is_too_late(double end, double decode_seconds) const;

 private:
  using Clock = std::chrono::steady_clock;
  double now_locked() const;

  mutable std::mutex mutex_;
  double base_ = 0.0;  // stream time at `since_`
  Clock::time_point since_ = Clock::now();
  double speed_ = 1.0;
  bool held_ = true;
};

}  // namespace zerorun::app
