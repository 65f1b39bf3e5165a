// Measures everyone who can code a case.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "apps/bench/measure/contenders.hpp"
#include "apps/bench/measure/measure.hpp"

namespace zerorun::app::bench {

/// What is being done, on a terminal only and not with --quiet.
void tell(const std::string& what);

/// `command` measures the case again; a row's command adds --only to it.
CaseResult run_case(const Case& what, const FrameSet& frames, const Selection& selection,
                    const Limits& limits, const std::string& command);

}  // namespace zerorun::app::bench
