// The time between steps on a CUDA stream.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "cuda/base/memory.hpp"

namespace zerorun {

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

}  // namespace zerorun
