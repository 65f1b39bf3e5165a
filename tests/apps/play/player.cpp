// The player alone, for builds with a sanitizer: apps/main.cpp without the other commands, which
// would take most of the time to compile.
// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>

#include "apps/commands.hpp"
#include "apps/sandbox/sandbox.hpp"

namespace zerorun::app {
namespace {

/// main() asks for each name, and then calls the function of the one that was given.
Command leave_out(CLI::App& program, const char* name) {
  program.add_subcommand(name, "Left out of this build");
  return [] { return Exit::usage; };
}

}  // namespace

Command add_encode(CLI::App& program) { return leave_out(program, "encode"); }
Command add_copy(CLI::App& program) { return leave_out(program, "copy"); }
Command add_decode(CLI::App& program) { return leave_out(program, "decode"); }
Command add_concat(CLI::App& program) { return leave_out(program, "concat"); }
Command add_verify(CLI::App& program) { return leave_out(program, "verify"); }
Command add_info(CLI::App& program) { return leave_out(program, "info"); }
Command add_devices(CLI::App& program) { return leave_out(program, "devices"); }
Command add_bench(CLI::App& program) { return leave_out(program, "bench"); }

namespace sandbox {

// `play` has no --sandbox.
bool is_built() noexcept { return false; }
void add_options(CLI::App& /*program*/) {}
std::optional<int> start(int /*argc*/, const char* const* /*argv*/) { return {}; }
bool is_child() noexcept { return false; }
void check_asked(const CLI::App& /*command*/) {}
void drop_rights(const CLI::App& /*command*/) {}

}  // namespace sandbox
}  // namespace zerorun::app
