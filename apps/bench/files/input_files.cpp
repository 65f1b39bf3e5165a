// The files of an input, for the floors and for FFmpeg.
// SPDX-License-Identifier: MIT
#include <glob.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <system_error>

#include "apps/bench/files/files.hpp"

namespace zerorun::app::bench {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> matches(const std::string& pattern) {
  std::vector<std::string> names;
  glob_t found{};
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0)
    for (std::size_t i = 0; i < found.gl_pathc; ++i) names.emplace_back(found.gl_pathv[i]);
  globfree(&found);
  return names;
}

std::vector<std::string> listed(const std::string& list) {
  std::vector<std::string> names;
  std::ifstream file(list);
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && line[0] != '#')
      names.push_back((fs::path(list).parent_path() / line).string());
  return names;
}

}  // namespace

InputFiles input_files(const std::string& input) {
  InputFiles found;
  std::error_code ignored;
  if (fs::is_regular_file(input, ignored)) {
    found.files = {input};
    found.ffmpeg = {"-i", input};
  } else if (input.starts_with('@')) {
    found.files = listed(input.substr(1));
  } else {
    // A number pattern is close to a glob with a star in its place.
    std::string pattern = std::regex_replace(input, std::regex("%0?[0-9]*d"), "*");
    if (fs::is_directory(input, ignored)) pattern = (fs::path(input) / "*").string();
    found.files = matches(pattern);
    if (!found.files.empty())
      found.ffmpeg = {"-framerate", "25", "-pattern_type", "glob", "-i", pattern};
  }
  for (const std::string& name : found.files)
    found.bytes += static_cast<std::int64_t>(fs::file_size(name, ignored));
  return found;
}

}  // namespace zerorun::app::bench
