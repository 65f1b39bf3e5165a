// Messages and the progress line on stderr.
// SPDX-License-Identifier: MIT
#include "apps/common/console.hpp"

#include <fmt/core.h>

#include <atomic>
#include <cstdio>
#include <mutex>
#include <unistd.h>

namespace zerorun::app::console {
namespace {

struct State {
  std::mutex mutex;
  bool line_shown = false;
  std::atomic<bool> quiet{false};
  std::atomic<bool> verbose{false};
};

State& state() {
  static State instance;
  return instance;
}

/// Removes the progress line, which has no newline, before something else is printed.
void clear_locked(State& s) {
  if (s.line_shown) std::fputs("\r\x1b[K", stderr);
  s.line_shown = false;
}

void print_line(std::string_view prefix, std::string_view text) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  clear_locked(s);
  // One write per line, so that the lines of several processes on a terminal do not mix.
  const std::string line = fmt::format("{}{}\n", prefix, text);
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
}

}  // namespace

void set_quiet(bool quiet) noexcept { state().quiet = quiet; }
void set_verbose(bool verbose) noexcept { state().verbose = verbose; }
bool is_quiet() noexcept { return state().quiet; }

bool stderr_is_terminal() noexcept { return isatty(STDERR_FILENO) == 1; }

void error(std::string_view sentence) { print_line("zerorun: ", sentence); }

void note(std::string_view sentence) {
  if (!state().quiet) print_line("zerorun: ", sentence);
}

void detail(std::string_view sentence) {
  if (state().verbose && !state().quiet) print_line("zerorun: ", sentence);
}

void plain(std::string_view text) {
  if (!state().quiet) print_line("", text);
}

void progress(std::string_view line) {
  if (!stderr_is_terminal()) {
    print_line("", line);
    return;
  }
  State& s = state();
  const std::lock_guard lock(s.mutex);
  const std::string text = fmt::format("\r{}\x1b[K", line);
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
  s.line_shown = true;
}

void clear_progress() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  clear_locked(s);
  std::fflush(stderr);
}

void machine(std::string_view json) { print_line("", json); }

}  // namespace zerorun::app::console
