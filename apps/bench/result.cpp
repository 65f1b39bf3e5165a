// The words of reports, and statistics of times: jitter, and a confidence interval of the median.
// SPDX-License-Identifier: MIT
#include "apps/bench/result.hpp"

#include <algorithm>
#include <cmath>

#include "codec/base/choices.hpp"

namespace zerorun::app::bench {

const char* name(Operation operation) noexcept {
  return operation == Operation::encode ? "encode" : "decode";
}
const char* name(Streams streams) noexcept {
  return streams == Streams::libjpeg ? "libjpeg" : streams == Streams::input ? "input" : "zerorun";
}
const char* name(Mode mode) noexcept {
  constexpr const char* kNames[] = {"latency", "throughput", "stages", "whole"};
  return kNames[static_cast<std::size_t>(mode)];
}
const char* name(HuffmanTables tables) noexcept { return word_of(tables).data(); }

Summary summarise(const std::vector<double>& values) {
  Summary s;
  if (values.empty()) return s;
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  static_cast<Distribution&>(s) = distribution_of(sorted);
  for (std::size_t i = 1; i < values.size(); ++i)
    s.jitter += std::abs(values[i] - values[i - 1]) / static_cast<double>(values.size() - 1);
  // The number of samples below the median is binomial (n, 1/2); normal approximation.
  const auto count = static_cast<double>(values.size());
  const double low = std::floor(count / 2 - 0.98 * std::sqrt(count));
  const auto skip = static_cast<std::size_t>(std::max(low, 0.0));
  s.median_low = sorted[skip];
  s.median_high = sorted[sorted.size() - 1 - skip];
  return s;
}

}  // namespace zerorun::app::bench
