// Percentiles, jitter and a confidence interval of the median.
// SPDX-License-Identifier: MIT
#include "apps/bench/measure/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace zerorun::app::bench {
namespace {

double percentile(const std::vector<double>& sorted, double p) {
  const double rank = std::ceil(p / 100.0 * static_cast<double>(sorted.size()));
  return sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

double mean_change(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  double sum = 0;
  for (std::size_t i = 1; i < values.size(); ++i) sum += std::abs(values[i] - values[i - 1]);
  return sum / static_cast<double>(values.size() - 1);
}

}  // namespace

Summary summarise(const std::vector<double>& values) {
  Summary s;
  s.samples = values.size();
  if (values.empty()) return s;
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const auto count = static_cast<double>(sorted.size());
  s.min = sorted.front();
  s.max = sorted.back();
  s.mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / count;
  s.median = percentile(sorted, 50);
  s.p95 = percentile(sorted, 95);
  s.p99 = percentile(sorted, 99);
  s.jitter = mean_change(values);
  // The number of samples below the median is binomial (n, 1/2); normal approximation.
  const double low = std::floor(count / 2 - 0.98 * std::sqrt(count));
  const auto skip = static_cast<std::size_t>(std::max(low, 0.0));
  s.median_low = sorted[skip];
  s.median_high = sorted[sorted.size() - 1 - skip];
  return s;
}

}  // namespace zerorun::app::bench
