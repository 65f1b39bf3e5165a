// The numbers in file names: their order, and those that are missing between them.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zerorun::io {

/// Natural order of file names, frame9 before frame10: runs of digits compare by value, then by
/// fewer leading zeros; everything else compares byte by byte. A strict weak order.
bool natural_less(std::string_view a, std::string_view b) noexcept;

/// "dir/shot_0042.v2.png": the last digits of the file name before its extension.
struct NumberedName {
  std::string_view before, digits, after;  ///< of the whole path
  std::int64_t number = 0;
};

/// nullopt if the name has no digits there, or more than 18. The views refer to `path`.
std::optional<NumberedName> numbered_name(std::string_view path);

struct NameGaps {
  std::int64_t count = 0;
  std::string first;  ///< path of the first one that is missing
};

/// What is missing between `names`, which are sorted, if they differ in one ascending number alone.
NameGaps find_name_gaps(const std::vector<std::string>& names);

/// Puts the missing names into `names`. Returns how many; none if they are more than `limit`.
std::int64_t fill_name_gaps(std::vector<std::string>& names, std::int64_t limit);

/// Leaves the names whose number is `first` to `last`.
void keep_file_numbers(std::vector<std::string>& names, std::int64_t first, std::int64_t last);

}  // namespace zerorun::io
