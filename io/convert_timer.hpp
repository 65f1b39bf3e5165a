// Adds the time of a conversion to what take_convert_time() gives.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>

namespace zerorun::io {

/// Measures from construction to destruction. Nested timers count once.
class ConvertTimer {
 public:
  ConvertTimer() noexcept;
  ~ConvertTimer();
  ConvertTimer(const ConvertTimer&) = delete;
  ConvertTimer& operator=(const ConvertTimer&) = delete;

 private:
  std::chrono::steady_clock::time_point start_;
};

}  // namespace zerorun::io
