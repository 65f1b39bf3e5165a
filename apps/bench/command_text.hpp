// The commands that measure the same again, with every default spelled out.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "apps/bench/options.hpp"

namespace zerorun::app::bench {

std::string command_text(const Options& options, const Selection& selection);
/// Of one case.
std::string command_of(const Options& all, const Selection& selection, const Case& what);
std::string exact_size_command(const Options& options, const Selection& selection);
std::string curves_command(const Options& options, const Selection& selection);

}  // namespace zerorun::app::bench
