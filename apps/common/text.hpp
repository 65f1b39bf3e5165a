// Numbers as text, and the words of the command line as numbers.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "zerorun/content.hpp"

namespace zerorun::app {

std::string with_commas(std::int64_t value);   ///< 24,123,456
std::string clock_text(double seconds);        ///< 0:04, 1:02:03
std::string rational_text(io::Rational rate);  ///< "25", "30000/1001", "unknown"

/// "25", "30000/1001", "23.976" (24000/1001), "12.5" (25/2); nullopt if it is not a positive
/// number.
std::optional<io::Rational> parse_rational(std::string_view text);

/// A whole decimal number; nullopt on anything else, also on overflow.
std::optional<std::int64_t> parse_integer(std::string_view text);

struct FrameRange {
  std::int64_t first = 0;
  std::int64_t last = -1;  ///< not included; -1 = to the end
};
/// "A:B", "A:", ":B", half open; "N" is "0:N"; nullopt if it is malformed or empty.
std::optional<FrameRange> parse_range(std::string_view text);

}  // namespace zerorun::app
