// Words of the command line that name a value.
// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/core.h>

#include <string>
#include <vector>

#include "apps/bench/result.hpp"
#include "apps/common/failure.hpp"

namespace zerorun::app::bench {

/// The value that has the name `word`, or the end of the command.
template <typename T>
T value_of(const char* option, const std::string& word, const std::vector<T>& values) {
  for (const T value : values)
    if (name(value) == word) return value;
  std::string names;
  for (const T value : values) names += (names.empty() ? "" : ", ") + std::string(name(value));
  fail(Exit::usage, fmt::format("{}: '{}' is not one of {}", option, word, names));
}

}  // namespace zerorun::app::bench
