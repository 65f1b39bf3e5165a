// Natural order of file names.
// SPDX-License-Identifier: MIT
#include "io/natural_order.hpp"

#include <algorithm>
#include <cstddef>

namespace zerorun::io {
namespace {

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// The run of digits at the start of `text`.
std::string_view digits_at(std::string_view text) noexcept {
  const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

std::string_view without_zeros(std::string_view digits) noexcept {
  return digits.substr(std::min(digits.find_first_not_of('0'), digits.size()));
}

/// <0, 0, >0 by value; digits of any length, so nothing overflows.
int compare_values(std::string_view a, std::string_view b) noexcept {
  a = without_zeros(a);
  b = without_zeros(b);
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  return a.compare(b);
}

}  // namespace

bool natural_less(std::string_view a, std::string_view b) noexcept {
  const std::string_view whole_a = a, whole_b = b;
  while (!a.empty() && !b.empty()) {
    if (is_digit(a[0]) && is_digit(b[0])) {
      const std::string_view na = digits_at(a), nb = digits_at(b);
      if (const int order = compare_values(na, nb); order != 0) return order < 0;
      a.remove_prefix(na.size());
      b.remove_prefix(nb.size());
    } else {
      if (a[0] != b[0]) return static_cast<unsigned char>(a[0]) < static_cast<unsigned char>(b[0]);
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  if (a.empty() != b.empty()) return a.empty();
  // Equal but for leading zeros: fewer zeros first, so that the order is total.
  if (whole_a.size() != whole_b.size()) return whole_a.size() < whole_b.size();
  return whole_a < whole_b;
}

}  // namespace zerorun::io
