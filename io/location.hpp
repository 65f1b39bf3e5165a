// What an INPUT or OUTPUT word means: file, stream, number pattern, glob, directory or list.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/number_pattern.hpp"
#include "zerorun/content.hpp"

namespace zerorun::io {

enum class LocationKind { stream, file, pattern, glob, directory, list, names };

struct ParsedLocation {
  LocationKind kind = LocationKind::file;
  std::string path;  ///< the word, without the '@' of a list
  std::optional<NumberPattern> pattern;
  std::vector<std::string> names = {};  ///< LocationKind::names
};

Result<ParsedLocation> parse_input(const Location& input);
Result<ParsedLocation> parse_output(const Location& output);

/// Lower-case extension without the dot; "" if there is none.
std::string extension_of(std::string_view path);

/// Location::format if given, else the extension, in lower case.
std::string format_of(const Location& location);

}  // namespace zerorun::io
