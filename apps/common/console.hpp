// Messages and the progress line on stderr.
// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace zerorun::app::console {

/// --quiet and --verbose; errors are always shown.
void set_verbosity(bool quiet, bool verbose) noexcept;
bool is_quiet() noexcept;

bool stderr_is_terminal() noexcept;

/// From here on stderr has the program's own lines alone, unless -v was given: libpng, libtiff and
/// libjpeg print theirs in any case. Call it before threads start.
void hide_lines_of_libraries();

void error(std::string_view sentence);   ///< "zerorun: sentence"
void no_memory() noexcept;               ///< that memory ran out; for signal handlers, too
void note(std::string_view sentence);    ///< the same, but not with --quiet
void detail(std::string_view sentence);  ///< the same, but only with --verbose
void plain(std::string_view text);       ///< without "zerorun: ", not with --quiet

/// Shows `line` instead of the last progress line, or below it if stderr is not a terminal.
/// clear_progress() removes it.
void progress(std::string_view line);
void clear_progress();

/// A line of machine-readable progress; also with --quiet, because it was asked for.
void machine(std::string_view json);

}  // namespace zerorun::app::console
