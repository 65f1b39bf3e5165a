// Distribution of the times per frame.
// SPDX-License-Identifier: MIT
#include "apps/common/timing.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace zerorun::app {

void FrameTimes::add(double microseconds) {
  microseconds_.push_back(static_cast<float>(microseconds));
  sum_ += microseconds;
}

double FrameTimes::first_ms() const noexcept {
  return microseconds_.empty() ? 0.0 : static_cast<double>(microseconds_.front()) * 1e-3;
}

double FrameTimes::mean_ms() const noexcept {
  return microseconds_.empty() ? 0.0 : sum_ * 1e-3 / static_cast<double>(microseconds_.size());
}

Distribution FrameTimes::distribution() const {
  Distribution d;
  if (microseconds_.empty()) return d;
  std::vector<float> sorted(microseconds_.begin() + (microseconds_.size() > 1 ? 1 : 0),
                            microseconds_.end());
  std::sort(sorted.begin(), sorted.end());
  const auto count = static_cast<double>(sorted.size());
  const auto percentile = [&](double p) {
    const auto rank = static_cast<std::size_t>(std::ceil(p / 100.0 * count));
    return static_cast<double>(sorted[std::max<std::size_t>(rank, 1) - 1]) * 1e-3;
  };
  d.min = static_cast<double>(sorted.front()) * 1e-3;
  d.max = static_cast<double>(sorted.back()) * 1e-3;
  d.mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) * 1e-3 / count;
  d.median = percentile(50);
  d.p95 = percentile(95);
  d.p99 = percentile(99);
  return d;
}

std::string times_text(const FrameTimes& times) {
  const Distribution d = times.distribution();
  return fmt::format(
      "min {:.2f}, mean {:.2f}, median {:.2f}, p95 {:.2f}, p99 {:.2f}, max {:.2f}; first {:.2f}",
      d.min, d.mean, d.median, d.p95, d.p99, d.max, times.first_ms());
}

nlohmann::json times_json(const FrameTimes& times) {
  const Distribution d = times.distribution();
  return {{"first", times.first_ms()},
          {"min", d.min},
          {"mean", d.mean},
          {"median", d.median},
          {"p95", d.p95},
          {"p99", d.p99},
          {"max", d.max}};
}

}  // namespace zerorun::app
