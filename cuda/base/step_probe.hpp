// Who looks on while a pipeline enqueues its steps: the benchmark records an event at each.
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

#include "zerorun/status.hpp"

namespace zerorun {

/// Called before each step is enqueued, with its name, and with "" behind the last. May be empty.
using StepProbe = std::function<Status(const char* step)>;

inline Status announce(const StepProbe& probe, const char* step) {
  return probe ? probe(step) : Status::ok();
}

}  // namespace zerorun
