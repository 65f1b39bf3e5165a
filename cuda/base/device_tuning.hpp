// The sizes that were measured for a device of this machine.
// SPDX-License-Identifier: MIT
#pragma once

#include "codec/base/tuning_policy.hpp"

namespace zerorun {

/// Of the current device; nothing where none were kept, and where it cannot be asked. Thread-safe.
TuningPolicy current_tuning();

}  // namespace zerorun
