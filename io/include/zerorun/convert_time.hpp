// The time that passes over samples took which only convert them.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>

#include "zerorun/status.hpp"

namespace zerorun::io {

/// The time that this thread has spent since its last call on passes that only convert samples: to
/// another range, depth, matrix, order, format, profile or orientation, or from fields. Sources
/// convert in Incoming::load(), sinks in prepare(). Conversions that a coder does as it goes do not
/// count.
ZERORUN_API std::chrono::nanoseconds take_convert_time() noexcept;

}  // namespace zerorun::io
