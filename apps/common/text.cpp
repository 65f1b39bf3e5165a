// SPDX-License-Identifier: MIT
#include "apps/common/text.hpp"

#include <fmt/core.h>

#include <cmath>
#include <numeric>

namespace zerorun::app {

std::string with_commas(std::int64_t value) {
  std::string digits = std::to_string(value);
  const std::ptrdiff_t sign = value < 0 ? 1 : 0;
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > sign; at -= 3)
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  return digits;
}

std::string clock_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::llround(std::fmax(0.0, seconds)));
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
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
    std::string digits(text.substr(0, dot));
    const std::string_view decimals = text.substr(dot + 1);
    if (decimals.empty() || decimals.size() > 9) return std::nullopt;
    digits += decimals;
    num = parse_integer(digits);
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

std::optional<FrameRange> parse_range(std::string_view text) {
  FrameRange range;
  if (const auto count = parse_integer(text))
    range.last = *count;
  else if (!parse_ends(text, range.first, range.last))
    return std::nullopt;
  const bool is_open = range.last < 0 && text.ends_with(':');
  return is_open || range.last > range.first ? std::optional(range) : std::nullopt;
}

}  // namespace zerorun::app
