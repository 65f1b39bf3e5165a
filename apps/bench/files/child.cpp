// Runs a program and takes its time, as a user's shell would.
// SPDX-License-Identifier: MIT
#include "apps/bench/files/child.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <system_error>

#include "apps/common/failure.hpp"
#include "apps/common/signals.hpp"
#include "apps/common/timing.hpp"

namespace zerorun::app::bench {
namespace {

/// What posix_spawn() is told, freed at the end.
class SpawnSettings {
 public:
  SpawnSettings(const std::string& out, const std::string& log) {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    constexpr int kWrite = O_WRONLY | O_CREAT | O_TRUNC;
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO,
                                     out.empty() ? "/dev/null" : out.c_str(), kWrite, 0600);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log.c_str(), kWrite, 0600);
    // This program blocks some signals and ignores SIGPIPE; a child would inherit both.
    sigset_t none, pipe;
    sigemptyset(&none);
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &pipe);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

/// Blocks until the child has ended.
ChildRun wait_for(pid_t child, const Stopwatch& watch) {
  int state = 0;
  rusage used{};
  while (wait4(child, &state, 0, &used) < 0 && errno == EINTR) {
  }
  const double seconds = watch.seconds();
  const int code = WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state);
  return {code, seconds, seconds_of(used.ru_utime) + seconds_of(used.ru_stime)};
}

}  // namespace

Result<ChildRun> run_child(const std::vector<std::string>& words, const std::string& out,
                           const std::string& log) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const SpawnSettings settings(out, log);
  pid_t child = 0;
  const Stopwatch watch;
  const int error =
      posix_spawnp(&child, argv[0], &settings.actions, &settings.attributes, argv.data(), environ);
  if (error != 0)
    return Status(Errc::open_failed, words[0] + ": " + std::generic_category().message(error));
  // A thread waits, so that this one can see signals; its clock stops with the child's end.
  auto ended = std::async(std::launch::async, wait_for, child, watch);
  bool told = false;
  while (ended.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready) {
    if (signals::received() == 0 || told) continue;
    told = true;
    kill(child, SIGTERM);
  }
  return ended.get();
}

TemporaryFolder::TemporaryFolder(const std::string& parent) {
  const char* const tmpdir = std::getenv("TMPDIR");
  const std::string usual = tmpdir != nullptr && *tmpdir != '\0' ? tmpdir : "/tmp";
  folder_ = (parent.empty() ? usual : parent) + "/zerorun-bench-XXXXXX";
  if (mkdtemp(folder_.data()) == nullptr)
    fail(Exit::output, (parent.empty() ? usual : parent) + ": no folder can be made there: " +
                           std::generic_category().message(errno));
  signals::remove_folder_when_killed(folder_);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
  signals::forget_removals();
}

void TemporaryFolder::clear(const std::string& name, bool make_folder) const {
  std::error_code ignored;
  std::filesystem::remove_all(path(name), ignored);
  if (make_folder) std::filesystem::create_directory(path(name), ignored);
}

}  // namespace zerorun::app::bench
