// Numbers to text and back.
// SPDX-License-Identifier: MIT
#include "apps/common/text.hpp"

#include <fmt/core.h>

#include <charconv>
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

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
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
  const std::int64_t common = std::gcd(*num, *den);
  return io::Rational{*num / common, *den / common};
}

std::optional<FrameRange> parse_range(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  FrameRange range;
  if (const std::string_view first = text.substr(0, colon); !first.empty()) {
    const auto value = parse_integer(first);
    if (!value || *value < 0) return std::nullopt;
    range.first = *value;
  }
  if (const std::string_view last = text.substr(colon + 1); !last.empty()) {
    const auto value = parse_integer(last);
    if (!value || *value <= range.first) return std::nullopt;
    range.last = *value;
  }
  return range;
}

}  // namespace zerorun::app
