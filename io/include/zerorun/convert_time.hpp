// How long samples were converted where that was a pass of its own.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>

#include "zerorun/status.hpp"

namespace zerorun::io {

/// What this thread has spent since its last call on making samples others: of another range,
/// depth, matrix, order, format, profile or orientation, or of fields. Sources do so in
/// Incoming::load(), sinks in prepare(). What a coder converts as it goes is not in it.
ZERORUN_API std::chrono::nanoseconds take_convert_time() noexcept;

}  // namespace zerorun::io
