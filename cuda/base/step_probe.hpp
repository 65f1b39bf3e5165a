// Tells an observer which step a pipeline enqueues; the benchmark records an event at each, and
// SpanClock at some.
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

#include "zerorun/status.hpp"

namespace zerorun {

/// Called with the name of each step before it is enqueued, and with "" after the last. May be
/// empty.
using StepProbe = std::function<Status(const char* step)>;

inline Status announce(const StepProbe& probe, const char* step) {
  return probe ? probe(step) : Status::ok();
}

}  // namespace zerorun
