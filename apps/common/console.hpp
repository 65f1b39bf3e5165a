// What people read: sentences and the progress line on stderr, never stdout.
// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace zerorun::app::console {

/// --quiet and --verbose; errors are always shown.
void set_quiet(bool quiet) noexcept;
void set_verbose(bool verbose) noexcept;
bool is_quiet() noexcept;
bool is_verbose() noexcept;

bool stderr_is_terminal() noexcept;

void error(std::string_view sentence);   ///< "zerorun: sentence"
void note(std::string_view sentence);    ///< the same, not with --quiet
void detail(std::string_view sentence);  ///< the same, only with --verbose
void plain(std::string_view text);       ///< text as it is, not with --quiet

/// Shows `line` in place of the progress line before; on something that is no terminal as a line
/// of its own. clear_progress() takes it away.
void progress(std::string_view line);
void clear_progress();

/// A line of machine-readable progress; shown with --quiet too, it was asked for.
void machine(std::string_view json);

}  // namespace zerorun::app::console
