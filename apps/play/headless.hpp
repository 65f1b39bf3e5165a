// `zerorun play --no-window`: decodes as fast as possible and reports.
// SPDX-License-Identifier: MIT
#pragma once

#include "apps/common/failure.hpp"
#include "apps/play/session.hpp"

namespace zerorun::app {

/// Decodes all frames and drops none. With --compare it measures the PSNR of every pair.
Exit play_headless(const PlayOptions& options, PlaySession& session);

}  // namespace zerorun::app
