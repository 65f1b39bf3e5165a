// What `zerorun bench` does beside timing frames in memory.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "apps/bench/options.hpp"
#include "apps/bench/report/report.hpp"
#include "apps/common/failure.hpp"

namespace zerorun::app::bench {

/// --files: adds a result for each case to the report. False after a signal.
bool run_from_files(const Options& options, const Selection& selection, std::vector<Case>& cases,
                    Report& report);
/// --tune: finds the sizes that suit each GPU.
Exit run_tune(const Options& options, const Selection& selection);
/// --compare: two reports of earlier runs.
Exit run_compare(const Options& options);

}  // namespace zerorun::app::bench
