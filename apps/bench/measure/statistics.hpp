// Distribution of measured times.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "apps/common/timing.hpp"

namespace zerorun::app::bench {

struct Summary : Distribution {
  double jitter = 0;  ///< mean of |t[i] - t[i-1]|: the change from one sample to the next
  /// Order statistics between which the true median lies with 95 % confidence (all samples if there
  /// are fewer than six); what `bench --compare` takes for noise.
  double median_low = 0, median_high = 0;
};

Summary summarise(const std::vector<double>& values);

}  // namespace zerorun::app::bench
