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
/// --curves: quality and bytes of several encoders.
Exit run_curves(const Options& options, const Selection& selection);
/// --exact-size: how near streams come to the sizes that are asked for.
Exit run_exact_size(const Options& options, const Selection& selection);
/// --compare: two reports of earlier runs.
Exit run_compare(const Options& options);

}  // namespace zerorun::app::bench
