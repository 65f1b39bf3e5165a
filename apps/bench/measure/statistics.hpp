// Distribution of measured times.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

namespace zerorun::app::bench {

/// Percentiles are nearest-rank: the least value that p % of the samples stay within.
struct Summary {
  std::size_t samples = 0;
  double min = 0, mean = 0, median = 0, p95 = 0, p99 = 0, max = 0;
  double jitter = 0;  ///< mean of |t[i] - t[i-1]|: the change from one sample to the next
  /// Order statistics that hold the true median with 95 % confidence (all samples if there are
  /// fewer than six); what `bench --compare` takes for noise.
  double median_low = 0, median_high = 0;
};

Summary summarise(const std::vector<double>& values);

}  // namespace zerorun::app::bench
