// The commands that measure the same again, with every default spelled out.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "apps/bench/options.hpp"

namespace zerorun::app::bench {

std::string command_text(const Options& options, const Selection& selection);
/// Of one case.
std::string command_of(const Options& all, const Selection& selection, const Case& what);

}  // namespace zerorun::app::bench
