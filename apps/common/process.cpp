// SPDX-License-Identifier: MIT
#include "apps/common/process.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

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

void be_quiet() noexcept { g_quiet = true; }
void be_verbose() noexcept { g_verbose = true; }
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

namespace zerorun::app::signals {
namespace {

std::atomic<int> g_received{0};
std::atomic<int> g_graceful{0};
std::atomic<const char*> g_doing{""};
std::atomic<int> g_exit_code{0};  // 0: 128 + the signal
std::atomic<bool> g_all_done{false};
std::atomic<bool> g_must_stop{false};
std::atomic<bool> g_left_behind{false};

std::mutex g_removal_mutex;
/// Never destroyed, because the signal thread may need it while the process exits.
std::vector<std::string>& g_removals = *new std::vector<std::string>;

void remove_parts() {
  const std::lock_guard lock(g_removal_mutex);
  std::error_code ignored;
  for (const std::string& path : g_removals) std::filesystem::remove_all(path, ignored);
}

void wait_for_signals(sigset_t set) {
  for (;;) {
    int number = 0;
    if (sigwait(&set, &number) != 0) continue;
    int expected = 0;
    const bool first = g_received.compare_exchange_strong(expected, number);
    if (first && g_graceful > 0) {
      console::clear_progress();
      console::note(std::string("interrupted; ") + g_doing.load() +
                    " (interrupt again to stop at once)");
      continue;
    }
    if (!first) {
      // Time for the main thread to unwind, so that sinks remove their unfinished files.
      g_must_stop = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
    }
    remove_parts();
    console::clear_progress();
    std::_Exit(exit_code());
  }
}

}  // namespace

void install() {
  std::signal(SIGPIPE, SIG_IGN);
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    if (sigaction(number, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) continue;
    sigaddset(&set, number);
  }
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::thread(wait_for_signals, set).detach();
}

void set_exit_code(int code) noexcept { g_exit_code = code; }
void set_all_done() noexcept { g_all_done = true; }
int exit_code() noexcept {
  if (g_all_done) return 0;
  return g_exit_code != 0 ? g_exit_code.load() : 128 + g_received;
}
int received() noexcept { return g_received; }
bool must_stop_now() noexcept { return g_must_stop; }

void set_thread_left_behind() noexcept { g_left_behind = true; }
bool is_thread_left_behind() noexcept { return g_left_behind; }

Graceful::Graceful(const char* doing) {
  g_doing = doing;
  ++g_graceful;
}
Graceful::~Graceful() { --g_graceful; }

void remove_when_killed(const std::string& path) {
  const std::lock_guard lock(g_removal_mutex);
  g_removals.push_back(path);
}

void forget_removals() {
  const std::lock_guard lock(g_removal_mutex);
  g_removals.clear();
}

}  // namespace zerorun::app::signals

namespace zerorun::app {

std::string exit_codes_text() {
  constexpr std::pair<Exit, const char*> kMeanings[] = {
      {Exit::done, "done"},
      {Exit::failed, "a run-time failure (memory); bench --compare found a slower row"},
      {Exit::usage, "bad command line"},
      {Exit::input, "input unreadable, corrupt or not supported"},
      {Exit::output, "output exists, cannot be written, or its format cannot hold this"},
      {Exit::device, "the device or display is not usable, or the device failed"},
      {Exit::mismatch, "--verify or `verify` found bytes that differ from those that were coded"},
      {Exit::resume, "ended by a signal; what is done is on the disk, and --resume goes on"},
  };
  std::string text = "Exit codes:\n";
  for (const auto& [code, meaning] : kMeanings)
    text += fmt::format("  {:<9} {}\n", static_cast<int>(code), meaning);
  return text +
         "  130, 143  interrupted by SIGINT, SIGTERM; the end of the file was written first\n";
}

Exit exit_for(const Status& status, Exit side) noexcept {
  switch (status.code()) {
    case Errc::ok:
      return Exit::done;
    case Errc::no_device:
    case Errc::device_unsuitable:
    case Errc::cuda_not_built:
    case Errc::device_failure:  // a scheduler tries another device
      return Exit::device;
    case Errc::out_of_memory:
      return Exit::failed;
    case Errc::verify_mismatch:
      return Exit::mismatch;
    default:
      return side;
  }
}

void fail(Exit code, std::string sentence) { throw Failure(code, std::move(sentence)); }

void fail_interrupted() {
  throw Interrupted(static_cast<Exit>(128 + signals::received()), "interrupted");
}

/// Removes the quoted path from the library's message if it repeats the name in front of it.
static std::string without_name(std::string message, const std::string& name) {
  const std::string quoted = "'" + name + "'";
  const auto at = message.find(quoted);
  if (at == std::string::npos) return message;
  const std::string rest = message.substr(at + quoted.size());
  if (rest.starts_with(": ")) return message.erase(at, quoted.size() + 2);
  if (at < 2 || message.compare(at - 2, 2, ": ") != 0) return message;
  const bool is_subject = rest.size() > 1 && rest[0] == ' ' && rest[1] != '(';
  if (is_subject) return message.replace(at, quoted.size(), "it");
  return message.erase(at - 2, quoted.size() + 2);
}

std::string sentence_about(const std::string& name, const Status& status) {
  return name + ": " + without_name(status.message(), name);
}

void fail(Exit side, const std::string& name, const Status& status, const char* hint) {
  fail(exit_for(status, side),
       (name.empty() ? status.message() : sentence_about(name, status)) + hint);
}

}  // namespace zerorun::app
