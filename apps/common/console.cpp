// SPDX-License-Identifier: MIT
#include "apps/common/console.hpp"

#include <fcntl.h>
#include <fmt/core.h>

#include <atomic>
#include <cstdio>
#include <mutex>
#include <unistd.h>

namespace zerorun::app::console {
namespace {

std::mutex g_mutex;  // guards stderr and the next line
bool g_line_shown = false;
std::atomic<bool> g_quiet{false};
std::atomic<bool> g_verbose{false};
std::FILE* g_messages = stderr;

/// Removes the progress line, which has no newline, before something else is printed.
void clear_locked() {
  if (g_line_shown) std::fputs("\r\x1b[K", g_messages);
  g_line_shown = false;
}

void print_line(std::string_view prefix, std::string_view text) {
  const std::lock_guard lock(g_mutex);
  clear_locked();
  // One write per line, so that the lines of several processes on a terminal do not mix.
  const std::string line = fmt::format("{}{}\n", prefix, text);
  std::fwrite(line.data(), 1, line.size(), g_messages);
  std::fflush(g_messages);
}

}  // namespace

void set_verbosity(bool quiet, bool verbose) noexcept {
  g_quiet = quiet;
  g_verbose = verbose;
}
bool is_quiet() noexcept { return g_quiet; }

bool stderr_is_terminal() noexcept { return isatty(fileno(g_messages)) == 1; }

void hide_lines_of_libraries() {
#if !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)  // their reports are no such lines
  if (g_messages != stderr || g_verbose) return;
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  const int real = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  std::FILE* messages = real >= 0 ? fdopen(real, "w") : nullptr;
  if (nowhere >= 0 && messages != nullptr && dup2(nowhere, STDERR_FILENO) >= 0)
    g_messages = messages;
  if (nowhere >= 0) close(nowhere);
#endif
}

void error(std::string_view sentence) { print_line("zerorun: ", sentence); }

void no_memory() noexcept {
  constexpr std::string_view kSentence = "zerorun: there is not enough memory\n";
  // Without the lock, which a thread that is being ended may hold.
  if (::write(fileno(g_messages), kSentence.data(), kSentence.size()) < 0) return;
}

void note(std::string_view sentence) {
  if (!g_quiet) print_line("zerorun: ", sentence);
}

void detail(std::string_view sentence) {
  if (g_verbose && !g_quiet) print_line("zerorun: ", sentence);
}

void plain(std::string_view text) {
  if (!g_quiet) print_line("", text);
}

void progress(std::string_view line) {
  if (!stderr_is_terminal()) {
    print_line("", line);
    return;
  }
  const std::lock_guard lock(g_mutex);
  const std::string text = fmt::format("\r{}\x1b[K", line);
  std::fwrite(text.data(), 1, text.size(), g_messages);
  std::fflush(g_messages);
  g_line_shown = true;
}

void clear_progress() {
  const std::lock_guard lock(g_mutex);
  clear_locked();
  std::fflush(g_messages);
}

void machine(std::string_view json) { print_line("", json); }

}  // namespace zerorun::app::console
