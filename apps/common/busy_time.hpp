// How long something was busy, from spans of time that overlap.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

namespace zerorun::app {

/// The time during which at least one span ran. Spans come in about the order of their beginnings.
class BusyTime {
 public:
  using Time = std::chrono::steady_clock::time_point;

  void add(Time begin, Time end);
  double seconds() const;

 private:
  struct Span {
    Time begin, end;
  };
  /// Far more than frames can be on their way to a device at a time: a span that comes later than
  /// as many others counts from the end of those that were forgotten.
  static constexpr std::size_t kMostOpen = 256;

  std::vector<Span> open_;  // in order, with gaps between them
  std::chrono::nanoseconds settled_{0};
  Time settled_until_ = Time::min();
};

}  // namespace zerorun::app
