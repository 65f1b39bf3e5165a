// System calls that signals interrupt.
// SPDX-License-Identifier: MIT
#pragma once

#include <cerrno>
#include <chrono>

namespace zerorun {

/// Tells whether a system call that failed is made again. One for each call, or for each loop of
/// calls that do one work.
///
/// A signal interrupts a call now and then. A broken file system may say EINTR for ever; a loop
/// that believes it takes a processor and never ends. So no more calls are made after a hundred
/// interruptions that follow one another within 50 microseconds each, faster than timers of
/// profilers.
class Interruptions {
 public:
  /// True if errno is EINTR and the call is worth another try. Keeps errno.
  bool again() noexcept {
    if (errno != EINTR) return false;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ > std::chrono::microseconds(50)) in_a_row_ = 0;
    last_ = now;
    return ++in_a_row_ < kMost;
  }

 private:
  static constexpr int kMost = 100;
  std::chrono::steady_clock::time_point last_{};
  int in_a_row_ = 0;
};

}  // namespace zerorun
