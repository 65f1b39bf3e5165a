// What `bench --curves` makes of the options of `bench`.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <string>

#include "apps/bench/quality/quality.hpp"
#include "apps/common/failure.hpp"

#include <CLI/CLI.hpp>

namespace zerorun::app::bench {

/// CLI11 puts a word of its own where an option has no value.
static bool has_no_number(const CLI::App& command) {
  const auto& words = command.get_option("--quality")->results();
  return std::none_of(words.begin(), words.end(), [](const std::string& word) {
    return word.find_first_of("0123456789") != std::string::npos;
  });
}

bool wants_curves(const CLI::App& command, const Options& options) {
  return options.curves || (command.count("--quality") > 0 && has_no_number(command));
}

void choose_curves(const CLI::App& command, Options& options) {
  options.curves = true;
  for (const char* fixed : {"--operation", "--pixels", "--huffman", "--tunes", "--effort",
                            "--restart", "--streams", "--target-size"})
    if (command.count(fixed) > 0)
      fail(Exit::usage,
           std::string(fixed) + ": --curves measures modes of its own, whatever it is");
  options.operations = {"encode"};
  options.pixels = {"rgb24"};
  options.tables = {"standard"};
  options.tunes = {"exact"};
  options.efforts = {"fast"};
  if (command.count("--subsampling") == 0) options.samplings = {"420", "444"};
  if (command.count("--quality") == 0 || has_no_number(command))
    options.qualities = {50, 65, 75, 85, 90, 95};
  if (options.qualities.size() < 2)
    fail(Exit::usage, "--curves needs two qualities or more, for example --quality 50,75,90");
}

}  // namespace zerorun::app::bench
