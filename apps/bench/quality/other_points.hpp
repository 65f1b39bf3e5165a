// Points of encoders that are not installed, measured elsewhere: the file of --points.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "apps/bench/quality/quality.hpp"

namespace zerorun::app::bench {

/// Adds the encoders of a table (TSV) to the report. Its columns are image, sampling, encoder, q,
/// scan_bytes and some of the metrics' names; other columns are skipped. A picture of the report is
/// one of the table where turbo_std or turbo_opt has the bytes of libjpeg-turbo at the same
/// quality. The others are compared with the table's own turbo_opt. Ends the command with exit 3 if
/// the file is not such a table.
void add_other_points(const std::string& file, QualityReport& report);

}  // namespace zerorun::app::bench
