// The time between steps on a CUDA stream.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "apps/bench/measure/stages.hpp"
#include "cuda/base/memory.hpp"

namespace zerorun::app::bench {

/// Records an event in front of each stage; the stream is idle when they are read.
class EventLog {
 public:
  Status mark(cudaStream_t queue, const char* stage) {
    if (used_ == events_.size()) {
      Event event;
      ZR_TRY(event.create(cudaEventDefault));
      events_.push_back({"", std::move(event)});
    }
    events_[used_].stage = stage;
    ZR_CUDA_TRY(cudaEventRecord(events_[used_++].event.get(), queue));
    return Status::ok();
  }
  /// What passed from each event to the next belongs to the first of the two.
  Status read(StageClock& clock) {
    for (std::size_t i = 0; i + 1 < used_; ++i) {
      float milliseconds = 0;
      ZR_CUDA_TRY(
          cudaEventElapsedTime(&milliseconds, events_[i].event.get(), events_[i + 1].event.get()));
      clock.add(events_[i].stage, static_cast<double>(milliseconds) * 1e3);
    }
    used_ = 0;
    return Status::ok();
  }

 private:
  struct Mark {
    std::string stage;
    Event event;
  };
  std::vector<Mark> events_;
  std::size_t used_ = 0;
};

}  // namespace zerorun::app::bench
