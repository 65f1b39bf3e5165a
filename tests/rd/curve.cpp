// Curves of rate and distortion, and the bytes that one saves beside another.
// SPDX-License-Identifier: MIT
#include "tests/rd/curve.hpp"

#include <algorithm>
#include <cmath>

namespace zerorun::rd {
namespace {

/// Logarithm of the bytes at a score.
double log_bytes_at(const Curve& curve, Metric metric, double score) {
  std::size_t upper = 1;
  while (upper + 1 < curve.size() && curve[upper].scores[metric] < score) ++upper;
  const Point &a = curve[upper - 1], &b = curve[upper];
  const double span = b.scores[metric] - a.scores[metric];
  const double part = span > 1e-12 ? (score - a.scores[metric]) / span : 0.0;
  return std::log(a.bytes) + part * (std::log(b.bytes) - std::log(a.bytes));
}

}  // namespace

std::optional<double> saved_percent(const Curve& base, const Curve& other, Metric metric) {
  if (base.size() < 2 || other.size() < 2) return std::nullopt;
  const double low = std::max(base.front().scores[metric], other.front().scores[metric]);
  const double high = std::min(base.back().scores[metric], other.back().scores[metric]);
  if (!(high >= low)) return std::nullopt;  // NaN: the metric is not known
  constexpr int kSteps = 200;
  double sum = 0;
  for (int i = 0; i <= kSteps; ++i) {
    const double score = low + (high - low) * i / kSteps;
    sum += log_bytes_at(other, metric, score) - log_bytes_at(base, metric, score);
  }
  return 100 * (1 - std::exp(sum / (kSteps + 1)));
}

double scan_bytes(std::span<const std::byte> jpeg) {
  const auto at = [&](std::size_t i) { return std::to_integer<std::size_t>(jpeg[i]); };
  for (std::size_t i = 2; i + 4 < jpeg.size();) {
    const std::size_t length = at(i + 2) << 8 | at(i + 3);
    if (at(i) != 0xFF || length < 2) return 0;
    const std::size_t behind = i + 2 + length;
    if (at(i + 1) == 0xDA)
      return behind + 2 <= jpeg.size() ? static_cast<double>(jpeg.size() - 2 - behind) : 0;
    i = behind;
  }
  return 0;
}

}  // namespace zerorun::rd
