// The time of the stream that is to be seen now.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <mutex>

namespace zerorun::app {

/// Seconds of the stream, advancing with the steady clock times the speed, or held. Thread-safe:
/// the decoders ask it which frames come too late.
class MediaClock {
 public:
  void run_from(double stream_seconds);
  /// Stands still; now() stays where it was.
  void hold();
  bool is_held() const;
  double now() const;
  double speed() const;
  void set_speed(double speed);

  /// Whether a frame that is over at `end` would be so before it is decoded. Never while held.
  bool is_too_late(double end, double decode_seconds) const;

 private:
  using Clock = std::chrono::steady_clock;
  double now_locked() const;

  mutable std::mutex mutex_;
  double base_ = 0.0;  // the stream's time at `since_`
  Clock::time_point since_ = Clock::now();
  double speed_ = 1.0;
  bool held_ = true;
};

}  // namespace zerorun::app
