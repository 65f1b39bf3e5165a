// Numbers as text, and the words of the command line as numbers.
// SPDX-License-Identifier: MIT
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "zerorun/content.hpp"

namespace zerorun::app {

std::string with_commas(std::int64_t value);   ///< 24,123,456
std::string clock_text(double seconds);        ///< 0:04, 1:02:03
std::string rational_text(io::Rational rate);  ///< "25", "30000/1001", "unknown"

/// "25", "30000/1001", "23.976" (24000/1001), "12.5" (25/2); nullopt if it is not a positive
/// number.
std::optional<io::Rational> parse_rational(std::string_view text);

/// A number and nothing else; nullopt also on overflow.
template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}
inline std::optional<std::int64_t> parse_integer(std::string_view text) {
  return parse_number<std::int64_t>(text);
}

/// "A:B", "A:" or ":B" with numbers from 0 on; an end that is left out keeps its value. False on
/// anything else.
bool parse_ends(std::string_view text, std::int64_t& first, std::int64_t& last);

struct FrameRange {
  std::int64_t first = 0;
  std::int64_t last = -1;  ///< not included; -1 = to the end
};
/// "A:B", "A:", ":B", half open; "N" is "0:N"; nullopt if it is malformed or empty.
std::optional<FrameRange> parse_range(std::string_view text);

}  // namespace zerorun::app
