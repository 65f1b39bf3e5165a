// `zerorun play` in a window.
// SPDX-License-Identifier: MIT
#pragma once

#include "apps/common/failure.hpp"
#include "apps/play/session.hpp"

namespace zerorun::app {

Exit play_in_window(const PlayOptions& options);

}  // namespace zerorun::app
