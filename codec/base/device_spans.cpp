// When a device worked for a thread.
// SPDX-License-Identifier: MIT
#include "codec/base/step_times.hpp"

#include <algorithm>
#include <utility>

namespace zerorun {
namespace {

thread_local DeviceSpans* t_current = nullptr;

std::chrono::nanoseconds length(const DeviceStretch& stretch) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(stretch.microseconds * 1e3));
}

}  // namespace

void place_spans(DeviceSpan::Time begin, DeviceSpan::Time now,
                 std::span<const DeviceStretch> stretches, int device,
                 std::vector<DeviceSpan>& out) {
  std::chrono::nanoseconds all{0};
  for (const DeviceStretch& stretch : stretches) all += length(stretch);
  DeviceSpan::Time at = std::min<DeviceSpan::Time>(begin, now - all);
  for (const DeviceStretch& stretch : stretches) {
    const DeviceSpan::Time end = at + length(stretch);
    if (stretch.step) out.push_back({*stretch.step, device, at, end});
    at = end;
  }
}

DeviceSpans::DeviceSpans() noexcept : outer_(std::exchange(t_current, this)) {}
DeviceSpans::~DeviceSpans() { t_current = outer_; }
DeviceSpans* DeviceSpans::current() noexcept { return t_current; }

}  // namespace zerorun
