// The numbers in file names: their order, and those that are missing between them.
// SPDX-License-Identifier: MIT
#include "io/base/sequence.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

namespace zerorun::io {
namespace {

constexpr std::size_t kMaxDigits = 18;

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// The run of digits at the start of `text`.
std::string_view digits_at(std::string_view text) noexcept {
  const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

std::string_view without_zeros(std::string_view digits) noexcept {
  return digits.substr(std::min(digits.find_first_not_of('0'), digits.size()));
}

/// Compares by value: < 0, 0 or > 0. The numbers may have any length.
int compare_values(std::string_view a, std::string_view b) noexcept {
  a = without_zeros(a);
  b = without_zeros(b);
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  return a.compare(b);
}

/// A minus sign, and no dash between words: before a digit, and after nothing that a word ends
/// with.
bool is_sign(std::string_view name, std::size_t at) noexcept {
  constexpr std::string_view kSeparators = "./_ ";
  return at + 1 < name.size() && name[at] == '-' && is_digit(name[at + 1]) &&
         (at == 0 || kSeparators.find(name[at - 1]) != std::string_view::npos);
}

/// "dir/shot_0042.v2.png": the last digits of the file name before its extension.
struct NumberedName {
  std::string_view before, digits, after;  // of the whole path
  std::int64_t number = 0;
};

/// nullopt if the name has no digits there, or more than 18. The views refer to `path`.
std::optional<NumberedName> numbered_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  const std::size_t begin = slash == std::string_view::npos ? 0 : slash + 1;
  std::size_t end = path.rfind('.');
  if (end == std::string_view::npos || end <= begin) end = path.size();
  while (end > begin && !is_digit(path[end - 1])) --end;
  std::size_t at = end;
  while (at > begin && is_digit(path[at - 1])) --at;
  if (at == end || end - at > kMaxDigits) return std::nullopt;
  NumberedName found{path.substr(0, at), path.substr(at, end - at), path.substr(end), 0};
  std::from_chars(found.digits.data(), found.digits.data() + found.digits.size(), found.number);
  return found;
}

std::string path_of(const NumberedName& like, std::int64_t number) {
  std::string digits = std::to_string(number);
  if (digits.size() < like.digits.size()) digits.insert(0, like.digits.size() - digits.size(), '0');
  return std::string(like.before) + digits + std::string(like.after);
}

/// The numbers of names that differ in nothing else, ascending; else empty.
std::vector<NumberedName> one_series(const std::vector<std::string>& names) {
  std::vector<NumberedName> series;
  for (const std::string& name : names) {
    const auto numbered = numbered_name(name);
    if (!numbered) return {};
    const bool fits = series.empty() || (numbered->before == series.back().before &&
                                         numbered->after == series.back().after &&
                                         numbered->number > series.back().number);
    if (!fits) return {};
    series.push_back(*numbered);
  }
  return series;
}

}  // namespace

bool natural_less(std::string_view a, std::string_view b) noexcept {
  const std::string_view whole_a = a, whole_b = b;
  while (!a.empty() && !b.empty()) {
    const bool is_minus_a = is_sign(whole_a, whole_a.size() - a.size());
    const bool is_minus_b = is_sign(whole_b, whole_b.size() - b.size());
    if ((is_minus_a || is_digit(a[0])) && (is_minus_b || is_digit(b[0]))) {
      if (is_minus_a != is_minus_b) return is_minus_a;
      a.remove_prefix(is_minus_a ? 1 : 0);
      b.remove_prefix(is_minus_b ? 1 : 0);
      const std::string_view na = digits_at(a), nb = digits_at(b);
      if (const int order = compare_values(na, nb); order != 0)
        return is_minus_a ? order > 0 : order < 0;
      a.remove_prefix(na.size());
      b.remove_prefix(nb.size());
    } else {
      if (a[0] != b[0]) return static_cast<unsigned char>(a[0]) < static_cast<unsigned char>(b[0]);
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  if (a.empty() != b.empty()) return a.empty();
  // They differ in leading zeros only: fewer zeros first, so that the order is total.
  if (whole_a.size() != whole_b.size()) return whole_a.size() < whole_b.size();
  return whole_a < whole_b;
}

NameGaps find_name_gaps(std::vector<std::string>& names, std::int64_t most_added) {
  NameGaps gaps;
  std::vector<std::string> filled;
  const std::vector<NumberedName> series = one_series(names);
  if (!series.empty())
    gaps.count = series.back().number - series.front().number + 1 - std::ssize(series);
  const bool fills = gaps.count > 0 && gaps.count <= most_added;
  for (std::size_t i = 0; gaps.count > 0 && i < series.size(); ++i) {
    filled.push_back(names[i]);
    const std::int64_t missing = series[i].number + 1;
    const std::int64_t next = i + 1 < series.size() ? series[i + 1].number : missing;
    if (gaps.first.empty() && missing < next) gaps.first = path_of(series[i], missing);
    for (std::int64_t n = missing; fills && n < next; ++n) filled.push_back(path_of(series[i], n));
  }
  if (fills) names = std::move(filled);
  return gaps;
}

void keep_file_numbers(std::vector<std::string>& names, std::int64_t first, std::int64_t last) {
  std::erase_if(names, [&](const std::string& name) {
    const auto numbered = numbered_name(name);
    return !numbered || numbered->number < first || numbered->number > last;
  });
}

}  // namespace zerorun::io
