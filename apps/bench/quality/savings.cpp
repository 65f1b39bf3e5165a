// The bytes that an encoder saves at equal quality, for each picture and on the mean.
// SPDX-License-Identifier: MIT
#include <cmath>
#include <limits>

#include "apps/bench/quality/quality.hpp"

namespace zerorun::app::bench {

Savings savings_of(const QualityPart& part, const EncoderCurves& encoder) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  Savings out;
  out.least = std::numeric_limits<double>::infinity();
  rd::Scores count{};
  const auto& base = part.encoders[encoder.base].curves;
  for (std::size_t i = 0; i < encoder.curves.size(); ++i) {
    rd::Scores& saved = out.pictures.emplace_back();
    for (std::size_t m = 0; m < rd::kMetrics; ++m) {
      const auto percent =
          rd::saved_percent(base[i], encoder.curves[i], static_cast<rd::Metric>(m));
      saved[m] = percent && std::isfinite(*percent) ? *percent : kNone;
      if (std::isnan(saved[m])) continue;
      out.mean[m] += saved[m];
      count[m] += 1;
    }
    if (saved[rd::ssimulacra2] < out.least) out.least = saved[rd::ssimulacra2];
  }
  for (std::size_t m = 0; m < rd::kMetrics; ++m)
    out.mean[m] = count[m] > 0 ? out.mean[m] / count[m] : kNone;
  if (count[rd::ssimulacra2] == 0) out.least = kNone;
  return out;
}

}  // namespace zerorun::app::bench
