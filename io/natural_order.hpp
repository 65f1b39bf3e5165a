// Natural order of file names: frame9 before frame10.
// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace zerorun::io {

/// Strict weak order: runs of digits compare by value, then by fewer leading zeros; all else
/// compares byte by byte.
bool natural_less(std::string_view a, std::string_view b) noexcept;

}  // namespace zerorun::io
