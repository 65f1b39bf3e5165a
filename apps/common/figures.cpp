// SPDX-License-Identifier: MIT
#include "apps/common/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace zerorun::app {

std::string with_commas(std::int64_t value) {
  return fmt::format("{}{}", value < 0 ? "-" : "", fmt::group_digits(std::abs(value)));
}

std::string clock_text(double seconds, bool decimals) {
  const double past = std::fmax(0.0, seconds);
  const long long ms = decimals ? std::llround(past * 1000) : std::llround(past) * 1000;
  const auto minutes = ms / 60000;
  const std::string rest = fmt::format("{:02}", ms / 1000 % 60) +
                           (decimals ? fmt::format(".{:03}", ms % 1000) : std::string());
  if (minutes < 60) return fmt::format("{}:{}", minutes, rest);
  return fmt::format("{}:{:02}:{}", minutes / 60, minutes % 60, rest);
}

std::string rational_text(io::Rational rate) {
  if (!rate.known()) return "unknown";
  return rate.den == 1 ? std::to_string(rate.num) : fmt::format("{}/{}", rate.num, rate.den);
}

/// What "23.976", "29.97" and "59.94" mean: the multiples of 1000/1001 that video has.
static std::optional<io::Rational> broadcast_rate(double rate) {
  constexpr double kRounding = 0.0045;  // 23.98 is 24000/1001, too
  for (const int whole : {24, 30, 48, 60, 72, 90, 96, 120, 240})
    if (std::abs(rate - whole * 1000.0 / 1001.0) < kRounding)
      return io::Rational{std::int64_t{whole} * 1000, 1001};
  return std::nullopt;
}

std::optional<io::Rational> parse_rational(std::string_view text) {
  std::optional<std::int64_t> num, den{1};
  if (const auto slash = text.find('/'); slash != std::string_view::npos) {
    num = parse_integer(text.substr(0, slash));
    den = parse_integer(text.substr(slash + 1));
  } else if (const auto dot = text.find('.'); dot != std::string_view::npos) {
    const std::string_view decimals = text.substr(dot + 1);
    if (decimals.empty() || decimals.size() > 9) return std::nullopt;
    num = parse_integer(std::string(text.substr(0, dot)).append(decimals));
    for (std::size_t i = 0; i < decimals.size(); ++i) *den *= 10;
  } else {
    num = parse_integer(text);
  }
  // Containers hold 32-bit numerators and denominators.
  if (!num || !den || *num <= 0 || *den <= 0 || *num > INT32_MAX || *den > INT32_MAX)
    return std::nullopt;
  const bool is_decimal = text.find('.') != std::string_view::npos;
  if (is_decimal && *num % *den != 0)
    if (const auto rate = broadcast_rate(static_cast<double>(*num) / static_cast<double>(*den)))
      return rate;
  const std::int64_t common = std::gcd(*num, *den);
  return io::Rational{*num / common, *den / common};
}

bool parse_ends(std::string_view text, std::int64_t& first, std::int64_t& last) {
  const auto read = [](std::string_view word, std::int64_t& to) {
    const auto value = parse_integer(word);
    if (value) to = *value;
    return word.empty() || (value && *value >= 0);
  };
  const auto colon = text.find(':');
  return colon != std::string_view::npos && read(text.substr(0, colon), first) &&
         read(text.substr(colon + 1), last);
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

}  // namespace zerorun::app
