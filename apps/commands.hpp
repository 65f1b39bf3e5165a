// The commands. Each adds its options to the program, and returns what runs if it is chosen.
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

#include "apps/common/process.hpp"

namespace CLI {
class App;
}

namespace zerorun::app {

/// Throws Failure, else returns Exit::done, also after an interruption that it handled.
using Command = std::function<Exit()>;

Command add_encode(CLI::App& program);
Command add_copy(CLI::App& program);
Command add_decode(CLI::App& program);
Command add_concat(CLI::App& program);
Command add_verify(CLI::App& program);
Command add_play(CLI::App& program);
Command add_info(CLI::App& program);
Command add_devices(CLI::App& program);
Command add_bench(CLI::App& program);

}  // namespace zerorun::app
