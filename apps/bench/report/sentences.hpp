// Sentences about the rows of a case, and warnings that the rows may be wrong.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/bench/result.hpp"

namespace zerorun::app::bench {

/// A sentence for each peer and mode: "One frame at a time, zerorun takes 0.80 of libjpeg-turbo's
/// time (cpu, host>host; 1 thread)." A peer with several backends has one sentence, which names the
/// fastest. The peer's fastest row is compared with zerorun's row of the
/// same device and path: one frame at a time with as many threads, if there is such a row, else
/// with the fastest. Empty without peers.
std::vector<std::string> sentences(const CaseResult& result);

/// Names the rows whose 95th percentile is more than twice the median; empty if there is none.
std::vector<std::string> warnings(const CaseResult& result);

/// If more than a quarter of the processors were busy before the measurement. `load` is the
/// system's mean number of running threads; < 0 = not known.
std::optional<std::string> load_warning(double load, unsigned processors);

}  // namespace zerorun::app::bench
