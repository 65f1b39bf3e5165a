// What an INPUT or OUTPUT word means.
// SPDX-License-Identifier: MIT
#include "io/location.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "codec/base/try.hpp"

namespace zerorun::io {
namespace {

namespace fs = std::filesystem;

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;  // in any locale
  });
  return text;
}

bool has_wildcard(std::string_view name) noexcept {
  return name.find_first_of("*?[") != std::string_view::npos;
}

Status check_name(const Location& location) {
  if (location.name.empty()) return Status(Errc::invalid_argument, "the file name is empty");
  if (location.name.find('\0') != std::string::npos)
    return Status(Errc::invalid_argument, "the file name has a zero byte in it");
  return Status::ok();
}

/// Sets the pattern if the name is one.
Status set_pattern(ParsedLocation& parsed) {
  ZR_LET(pattern, NumberPattern::parse(parsed.path));
  if (!pattern) return Status::ok();
  parsed.kind = LocationKind::pattern;
  parsed.pattern = std::move(pattern);
  return Status::ok();
}

}  // namespace

Result<ParsedLocation> parse_input(const Location& input) {
  if (!input.names.empty()) return ParsedLocation{LocationKind::names, input.name, {}, input.names};
  ZR_TRY(check_name(input));
  const std::string& name = input.name;
  ParsedLocation parsed{LocationKind::file, name, {}, {}};
  if (name == "-") return ParsedLocation{LocationKind::stream, name, {}, {}};
  std::error_code ignored;
  const fs::file_status found = fs::status(name, ignored);
  if (fs::is_directory(found)) return ParsedLocation{LocationKind::directory, name, {}, {}};
  if (fs::exists(found)) return parsed;  // a file may be called "100%d[1].png"
  if (name[0] == '@') return ParsedLocation{LocationKind::list, name.substr(1), {}, {}};
  const Status status = set_pattern(parsed);
  if (has_wildcard(name) && !parsed.pattern)
    parsed.kind = LocationKind::glob;
  else
    ZR_TRY(status);
  return parsed;
}

Result<ParsedLocation> parse_output(const Location& output) {
  ZR_TRY(check_name(output));
  const std::string& name = output.name;
  if (name == "-") return ParsedLocation{LocationKind::stream, name, {}, {}};
  std::error_code ignored;
  if (name.back() == '/' || fs::is_directory(name, ignored))
    return Status(Errc::invalid_argument, "the output '" + name +
                                              "' is a directory; name a pattern in it, for "
                                              "example %05d.jpg");
  ParsedLocation parsed{LocationKind::file, name, {}, {}};
  ZR_TRY(set_pattern(parsed));
  return parsed;
}

std::string extension_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash != std::string_view::npos) path.remove_prefix(slash + 1);
  const std::size_t dot = path.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return {};
  return lower_case(std::string(path.substr(dot + 1)));
}

std::string format_of(const Location& location) {
  return location.format.empty() ? extension_of(location.name) : lower_case(location.format);
}

}  // namespace zerorun::io
