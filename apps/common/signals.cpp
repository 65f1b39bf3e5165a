// SPDX-License-Identifier: MIT
#include "apps/common/signals.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "apps/common/console.hpp"

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
