// The layout of --help and --help-all, from which the manual pages and the completions are made.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace zerorun::app {

/// Gives `command`, and the commands that are added to it later, a --help that wraps at 100
/// columns, lists INPUT beside its options, and leaves out CLI11's texts on checks and exclusions.
/// --help-all has all options in their groups, the whole footer and the exit codes. If some options
/// are `common`, --help has these, which must have been added, in this order, then `note`, and the
/// footer from its examples on. A name is that on the command line: "--output", or "INPUT".
void show_common_options(CLI::App& command, std::vector<std::string> common = {},
                         std::string note = "");

}  // namespace zerorun::app
