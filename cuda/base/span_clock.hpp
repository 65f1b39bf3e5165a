// When a stream worked, and at what: events between its steps, and their times for the thread that
// asks for them.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/base/step_times.hpp"
#include "cuda/base/memory.hpp"

namespace zerorun {

// An observer of the steps that a pipeline enqueues: the benchmark records an event at each, and
// SpanClock at some.

/// Called with the name of each step before it is enqueued, and with "" after the last. May be
/// empty.
using StepProbe = std::function<Status(const char* step)>;

inline Status announce(const StepProbe& probe, const char* step) {
  return probe ? probe(step) : Status::ok();
}

/// Records an event in front of each step. Events are kept between frames. A Label says which step.
template <typename Label>
class EventLog {
 public:
  Status mark(cudaStream_t stream, Label step) {
    if (used_ == marks_.size()) {
      Event event;
      ZR_TRY(event.create(cudaEventDefault));
      marks_.push_back({step, std::move(event)});
    }
    marks_[used_].step = step;
    return ZR_CUDA_STATUS(cudaEventRecord(marks_[used_++].event.get(), stream));
  }

  /// Waits for the stream, appends {step, microseconds} for each mark but the last, and forgets
  /// the marks. A step lasts from its own mark to the next one.
  template <typename Steps>
  Status read(cudaStream_t stream, Steps& steps) {
    ZR_CUDA_TRY(cudaStreamSynchronize(stream));
    for (std::size_t i = 0; i + 1 < used_; ++i) {
      float milliseconds = 0;
      ZR_CUDA_TRY(
          cudaEventElapsedTime(&milliseconds, marks_[i].event.get(), marks_[i + 1].event.get()));
      steps.push_back({marks_[i].step, static_cast<double>(milliseconds) * 1e3});
    }
    used_ = 0;
    return Status::ok();
  }

  bool empty() const noexcept { return used_ == 0; }
  void forget() noexcept { used_ = 0; }

 private:
  struct Mark {
    Label step;
    Event event;
  };
  std::vector<Mark> marks_;
  std::size_t used_ = 0;
};

/// Measures one stream. Does nothing where the calling thread has no DeviceSpans.
class SpanClock {
 public:
  explicit SpanClock(int device) noexcept : device_(device) {}

  /// Forgets the marks of a frame that failed.
  void restart() noexcept { log_.forget(); }

  /// Work enqueued after this call is part of `step`; nothing: of none. The stream is idle at the
  /// first mark of a frame, so that the host's clock can be read for the device's.
  Status mark(cudaStream_t stream, std::optional<DeviceStep> step) {
    if (DeviceSpans::current() == nullptr) return Status::ok();
    const bool is_first = log_.empty();
    if (!is_first && step == step_) return Status::ok();
    ZR_TRY(log_.mark(stream, step));
    step_ = step;
    if (is_first) begin_ = std::chrono::steady_clock::now();
    return Status::ok();
  }

  /// The same by the names that a StepProbe gets: "upload", "download", "" for none; all others are
  /// kernels, which get no mark between them.
  Status mark(cudaStream_t stream, const char* step) {
    const std::string_view name(step);
    if (name.empty()) return mark(stream, std::nullopt);
    if (name == "upload") return mark(stream, DeviceStep::upload);
    if (name == "download") return mark(stream, DeviceStep::download);
    return mark(stream, DeviceStep::kernels);
  }

  /// Hands the spans to the thread's DeviceSpans, and waits for the stream. The last mark is one of
  /// no step.
  Status collect(cudaStream_t stream) {
    DeviceSpans* const out = DeviceSpans::current();
    if (out == nullptr || log_.empty()) return Status::ok();
    stretches_.clear();
    ZR_TRY(log_.read(stream, stretches_));
    place_spans(begin_, std::chrono::steady_clock::now(), stretches_, device_, out->spans);
    return Status::ok();
  }

 private:
  const int device_;
  EventLog<std::optional<DeviceStep>> log_;
  std::optional<DeviceStep> step_;  ///< of the last mark
  DeviceSpan::Time begin_;          ///< of the first one
  std::vector<DeviceStretch> stretches_;
};

}  // namespace zerorun
