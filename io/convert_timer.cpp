// The time that passes over samples took which only convert them.
// SPDX-License-Identifier: MIT
#include "io/convert_timer.hpp"

#include <utility>

#include "zerorun/convert.hpp"

namespace zerorun::io {
namespace {

/// One for each thread: a lane asks for its own time after each frame.
struct Converting {
  std::chrono::nanoseconds total{0};
  int timers = 0;  ///< that run now, one within another
};
thread_local Converting t_converting;

}  // namespace

ConvertTimer::ConvertTimer() noexcept : start_(std::chrono::steady_clock::now()) {
  ++t_converting.timers;
}

ConvertTimer::~ConvertTimer() {
  if (--t_converting.timers == 0) t_converting.total += std::chrono::steady_clock::now() - start_;
}

std::chrono::nanoseconds take_convert_time() noexcept {
  return std::exchange(t_converting.total, {});
}

}  // namespace zerorun::io
