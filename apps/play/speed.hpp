// How fast and how slow `zerorun play` may go.
// SPDX-License-Identifier: MIT
#pragma once

namespace zerorun::app {

inline constexpr double kSlowest = 0.01, kFastest = 100.0;

}  // namespace zerorun::app
