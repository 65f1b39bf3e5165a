// --sandbox: the command runs in a child process that has given up its rights, and the parent tells
// how the child ended. Code that reads untrusted bytes can then do little more than write OUTPUT.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

namespace CLI {
class App;
}

namespace zerorun::app::sandbox {

/// True if this build has it (libseccomp, Linux).
bool is_built() noexcept;

/// Adds --sandbox to the commands that read untrusted files.
void add_options(CLI::App& program);

/// Call it first in main(), while there is one thread. Where the command line or ZERORUN_SANDBOX=1
/// asks for a sandbox it makes the child, in which it returns nullopt. The parent passes signals
/// on, waits, and returns the exit code. Without a sandbox it returns nullopt.
std::optional<int> start(int argc, const char* const* argv);

/// True in the child.
bool is_child() noexcept;

/// When the options are known: ends the command where a sandbox was asked for in a way that start()
/// does not see (exit code 2).
void check_asked(const CLI::App& command);

/// In the child, when the options are known and before there is a second thread: leaves the files
/// that the options of `command` name and the libraries of the system, and no network, no other
/// program and no other process. Ends the command (exit code 1) where the kernel cannot do that.
void drop_rights(const CLI::App& command);

}  // namespace zerorun::app::sandbox
