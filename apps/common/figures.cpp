// SPDX-License-Identifier: MIT
#include "apps/common/figures.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
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

Distribution distribution_of(const std::vector<double>& sorted) {
  const auto count = static_cast<double>(sorted.size());
  const auto percentile = [&](double p) {
    const auto rank = static_cast<std::size_t>(std::ceil(p / 100.0 * count));
    return sorted[std::max<std::size_t>(rank, 1) - 1];
  };
  return {sorted.front(), std::accumulate(sorted.begin(), sorted.end(), 0.0) / count,
          percentile(50), percentile(95),
          percentile(99), sorted.back()};
}

Distribution FrameTimes::distribution() const {
  if (microseconds_.empty()) return {};
  std::vector<double> sorted;
  for (std::size_t i = microseconds_.size() > 1 ? 1 : 0; i < microseconds_.size(); ++i)
    sorted.push_back(static_cast<double>(microseconds_[i]) * 1e-3);
  std::sort(sorted.begin(), sorted.end());
  return distribution_of(sorted);
}

std::string times_text(const FrameTimes& times) {
  // The first frame stands apart. A percentile of fewer values than this is their maximum.
  constexpr std::size_t kLeastForP99 = 100;
  if (times.count() < 2) return fmt::format("{:.2f}", times.first_ms());
  const Distribution d = times.distribution();
  const std::string p99 = times.count() > kLeastForP99 ? fmt::format(", p99 {:.2f}", d.p99) : "";
  return fmt::format(
      "min {:.2f}, mean {:.2f}, median {:.2f}, p95 {:.2f}{}, max {:.2f}; first {:.2f}", d.min,
      d.mean, d.median, d.p95, p99, d.max, times.first_ms());
}

nlohmann::json times_json(const FrameTimes& times) {
  if (times.count() == 1) return {{"first", times.first_ms()}};  // one value has no distribution
  const Distribution d = times.distribution();
  return {{"first", times.first_ms()},
          {"min", d.min},
          {"mean", d.mean},
          {"median", d.median},
          {"p95", d.p95},
          {"p99", d.p99},
          {"max", d.max}};
}

std::string psnr_components_text(const SquaredError& error) {
  constexpr std::array kYCbCr{"Y", "Cb", "Cr"}, kRgb{"R", "G", "B"};
  const auto& names = error.is_rgb ? kRgb : kYCbCr;
  std::string text;
  for (int c = 0; c < error.components; ++c)
    text += fmt::format("{}{} {:.3f}", c == 0 ? "" : ", ", names[static_cast<std::size_t>(c)],
                        error.psnr(c));
  return text;
}

void add_lost_devices(nlohmann::json& to, const std::vector<LostDevice>& lost) {
  for (const LostDevice& one : lost)
    to["lost_devices"].push_back(
        {{"device", fmt::format("cuda:{}", one.device)}, {"reason", one.why.message()}});
}

nlohmann::json psnr_json(double decibels) {
  return std::isinf(decibels) ? nlohmann::json()
                              : nlohmann::json(std::round(decibels * 1000.0) / 1000.0);
}

}  // namespace zerorun::app
