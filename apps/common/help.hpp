// The layout of --help and --help-all, from which the manual pages and the completions are made.
// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <utility>
#include <vector>

namespace zerorun::app {

/// Wraps at 100 columns, lists INPUT beside its options, and leaves out CLI11's texts on checks and
/// exclusions. --help-all has all options in their groups, the whole footer and the exit codes.
/// --help is the same without the exit codes, unless only some options are common.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() = default;
  /// --help has the options in `common`, in this order, then `note`, and the footer from its
  /// examples on. A name is that of the option on the command line: "--output", or "INPUT".
  explicit HelpFormatter(std::vector<std::string> common, std::string note = "")
      : common_(std::move(common)), note_(std::move(note)) {}

  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
  std::string make_usage(const CLI::App* app, std::string name) const override;
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_subcommand(const CLI::App* command) const override;

 private:
  std::string common_options(const CLI::App* app) const;
  std::string all_options(const CLI::App* app) const;

  std::vector<std::string> common_;
  std::string note_;
};

/// Gives `command` a --help that has these options alone. They must have been added.
void show_common_options(CLI::App& command, std::vector<std::string> common, std::string note = "");

}  // namespace zerorun::app
