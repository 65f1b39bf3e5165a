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
  /// Far more than the frames that can be on their way to a device at a time. Older spans are
  /// forgotten: a span that comes so late counts from their end.
  static constexpr std::size_t kMostOpen = 256;

  std::vector<Span> open_;  // in order, with gaps between them
  std::chrono::nanoseconds settled_{0};
  Time settled_until_ = Time::min();
};

}  // namespace zerorun::app
