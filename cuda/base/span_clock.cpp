// Measures when a stream worked, and on which step.
// SPDX-License-Identifier: MIT
#include "cuda/base/span_clock.hpp"

#include <chrono>
#include <string_view>

namespace zerorun {

Status SpanClock::mark(cudaStream_t stream, std::optional<DeviceStep> step) {
  if (DeviceSpans::current() == nullptr) return Status::ok();
  const bool is_first = log_.empty();
  if (!is_first && step == step_) return Status::ok();
  ZR_TRY(log_.mark(stream, step));
  step_ = step;
  if (is_first) begin_ = std::chrono::steady_clock::now();
  return Status::ok();
}

Status SpanClock::mark(cudaStream_t stream, const char* step) {
  const std::string_view name(step);
  if (name.empty()) return mark(stream, std::nullopt);
  if (name == "upload") return mark(stream, DeviceStep::upload);
  if (name == "download") return mark(stream, DeviceStep::download);
  return mark(stream, DeviceStep::kernels);
}

Status SpanClock::collect(cudaStream_t stream) {
  DeviceSpans* const out = DeviceSpans::current();
  if (out == nullptr || log_.empty()) return Status::ok();
  stretches_.clear();
  ZR_TRY(log_.read(stream, stretches_));
  place_spans(begin_, std::chrono::steady_clock::now(), stretches_, device_, out->spans);
  return Status::ok();
}

}  // namespace zerorun
