// When a device worked for a thread, and at what.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace zerorun {

enum class DeviceStep : std::uint8_t { upload, kernels, download };

struct DeviceSpan {
  using Time = std::chrono::steady_clock::time_point;
  DeviceStep step;
  int device;
  Time begin, end;
};

/// How long the queue of a device spent on a step; none: it waited for the host or for others.
struct DeviceStretch {
  std::optional<DeviceStep> step;
  double microseconds;
};

/// Appends the stretches that have a step. They follow each other, and the first one began at
/// `begin`; at `now` all were over, so they began earlier where `begin` says otherwise.
void place_spans(DeviceSpan::Time begin, DeviceSpan::Time now,
                 std::span<const DeviceStretch> stretches, int device,
                 std::vector<DeviceSpan>& out);

/// While it lives, coders that its thread calls measure the work of their devices and record it
/// here; otherwise they measure nothing. If a thread has several, the last one counts.
class DeviceSpans {
 public:
  DeviceSpans() noexcept;
  ~DeviceSpans();
  DeviceSpans(const DeviceSpans&) = delete;
  DeviceSpans& operator=(const DeviceSpans&) = delete;

  /// That of the calling thread, or null.
  static DeviceSpans* current() noexcept;

  std::vector<DeviceSpan> spans;

 private:
  DeviceSpans* const outer_;
};

}  // namespace zerorun
