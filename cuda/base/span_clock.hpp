// When a stream worked, and at what: events between the steps, for the thread that asks for it.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "codec/base/device_spans.hpp"
#include "cuda/base/event_log.hpp"

namespace zerorun {

/// Measures one stream. Does nothing where the calling thread has no DeviceSpans.
class SpanClock {
 public:
  explicit SpanClock(int device) noexcept : device_(device) {}

  /// Forgets the marks of a frame that failed.
  void restart() noexcept { log_.forget(); }

  /// Work enqueued after this call is part of `step`; nothing: of none. The stream is idle at the
  /// first mark of a frame, so that the host's clock can be read for the device's.
  Status mark(cudaStream_t stream, std::optional<DeviceStep> step);

  /// The same by the names that a StepProbe gets: "upload", "download", "" for none; all others are
  /// kernels, which get no mark between them.
  Status mark(cudaStream_t stream, const char* step);

  /// Hands the spans to the thread's DeviceSpans, and waits for the stream. The last mark is one of
  /// no step.
  Status collect(cudaStream_t stream);

 private:
  const int device_;
  EventLog<std::optional<DeviceStep>> log_;
  std::optional<DeviceStep> step_;  ///< of the last mark
  DeviceSpan::Time begin_;          ///< of the first one
  std::vector<DeviceStretch> stretches_;
};

}  // namespace zerorun
