// `zerorun play --no-window`: decode as fast as possible and report.
// SPDX-License-Identifier: MIT
#pragma once

#include "apps/common/failure.hpp"
#include "apps/play/session.hpp"

namespace zerorun::app {

/// All frames, none dropped, and with --compare the PSNR of every pair.
Exit play_headless(const PlayOptions& options, PlaySession& session);

}  // namespace zerorun::app
