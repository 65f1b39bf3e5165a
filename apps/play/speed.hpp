// The range of --speed.
// SPDX-License-Identifier: MIT
#pragma once

namespace zerorun::app {

inline constexpr double kSlowest = 0.01, kFastest = 100.0;

}  // namespace zerorun::app
