// --sandbox: the child, and the parent that waits for it.
// SPDX-License-Identifier: MIT
#include "apps/sandbox/sandbox.hpp"

#include <CLI/CLI.hpp>

#include <fmt/core.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "apps/common/console.hpp"
#include "apps/common/failure.hpp"
#include "apps/common/reports.hpp"
#include "apps/sandbox/file_rights.hpp"
#include "apps/sandbox/kernel_rights.hpp"

namespace zerorun::app::sandbox {
namespace {

bool g_is_child = false;

constexpr std::array<std::string_view, 5> kCommands = {"encode", "decode", "copy", "info",
                                                       "verify"};

constexpr const char* kHelp =
    "Do it in a process without rights: no network, no other program, no files but those that the "
    "command names and the system's libraries (Linux; on the CPU, unless --device names a GPU). "
    "ZERORUN_SANDBOX=1 asks for it, too";

bool is_asked(int argc, const char* const* argv) {
  if (argc < 2 || std::ranges::find(kCommands, argv[1]) == kCommands.end()) return false;
  const char* const variable = std::getenv("ZERORUN_SANDBOX");
  if (variable != nullptr && std::string_view(variable) == "1") return true;
  return std::any_of(argv + 2, argv + argc,
                     [](std::string_view word) { return word == "--sandbox"; });
}

/// The signals that the parent passes on, without those that its own parent ignored, and SIGCHLD.
sigset_t passed_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP}) {
    struct sigaction before {};
    if (sigaction(number, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) continue;
    sigaddset(&set, number);
  }
  return set;
}

/// Whether a word is /dev/fd/N or /proc/self/fd/N, as a shell writes <(command).
bool names_descriptor(std::string_view word, std::string_view number) {
  return word.ends_with(number) && word.size() > number.size() + 3 &&
         word.substr(0, word.size() - number.size()).ends_with("/fd/");
}

/// Closes what the caller had open, unless the command line names it.
void close_inherited(int argc, const char* const* argv) {
  std::error_code ignored;
  std::vector<std::string> open;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", ignored))
    open.push_back(entry.path().filename().string());
  for (const std::string& number : open) {
    const int descriptor = std::atoi(number.c_str());
    const bool is_named = std::any_of(
        argv, argv + argc, [&](std::string_view word) { return names_descriptor(word, number); });
    if (descriptor > STDERR_FILENO && !is_named) close(descriptor);
  }
}

/// A group of its own: a terminal signals the parent alone, which passes each signal on once. The
/// second one would end the command at once.
void begin_child(pid_t parent) {
  g_is_child = true;
  setpgid(0, 0);
  std::signal(SIGTTOU, SIG_IGN);  // the progress is written to the terminal all the same
  std::signal(SIGTTIN, SIG_IGN);  // and reading from it is an error, not a stop
  std::signal(SIGPIPE, SIG_IGN);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) std::_Exit(static_cast<int>(Exit::failed));
}

std::string killed_sentence(int number) {
  const char* const why = number == SIGSYS    ? "it tried what the sandbox forbids"
                          : number == SIGKILL ? "something killed it, perhaps for its memory"
                                              : "it crashed";
  return fmt::format(
      "the process in the sandbox ended by signal {} ({}): {}; the input may be made to do that, "
      "and OUTPUT is not finished",
      number, strsignal(number), why);
}

/// Stops with the child, as a shell's job control expects, and goes on with it.
void stop_both(pid_t child) {
  kill(child, SIGSTOP);
  raise(SIGSTOP);
  kill(child, SIGCONT);
}

int end_of_child(int status, int last_passed, int argc, const char* const* argv) {
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  const int number = WTERMSIG(status);
  if (number == last_passed) return 128 + number;
  const std::string sentence = killed_sentence(number);
  console::error(sentence);
  if (asks_for_json(argc, argv)) print_failed_event(static_cast<int>(Exit::input), sentence);
  return static_cast<int>(Exit::input);
}

int supervise(pid_t child, const sigset_t& set, int argc, const char* const* argv) {
  for (int last_passed = 0;;) {
    const int number = sigwaitinfo(&set, nullptr);
    if (number == SIGCHLD) {
      int status = 0;
      if (waitpid(child, &status, WNOHANG) == child)
        return end_of_child(status, last_passed, argc, argv);
    } else if (number == SIGTSTP) {
      stop_both(child);
    } else if (number > 0) {
      last_passed = number;
      kill(child, number);
    }
  }
}

}  // namespace

bool is_built() noexcept { return ZERORUN_HAVE_SANDBOX; }

void add_options(CLI::App& program) {
  const std::string help = kHelp;
  for (const std::string_view name : kCommands) {
    CLI::App* const command = program.get_subcommand(std::string(name));
    command->option_defaults()->group("Input");
    command->add_flag("--sandbox", help)->disable_flag_override();
  }
}

std::optional<int> start(int argc, const char* const* argv) {
  if (!is_asked(argc, argv)) return std::nullopt;
  std::signal(SIGCHLD,
              SIG_DFL);  // a daemon may have left it ignored, and then no child is waited for
  const sigset_t set = passed_signals();
  sigset_t before;
  sigprocmask(SIG_BLOCK, &set, &before);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) {
    console::error(fmt::format("--sandbox: no process can be made: {}", std::strerror(errno)));
    return static_cast<int>(Exit::failed);
  }
  if (child > 0) return supervise(child, set, argc, argv);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  begin_child(parent);
  close_inherited(argc, argv);
  return std::nullopt;
}

bool is_child() noexcept { return g_is_child; }

void check_asked(const CLI::App& command) {
  const char* const variable = std::getenv("ZERORUN_SANDBOX");
  const std::string_view word = variable == nullptr ? "" : variable;
  if (!word.empty() && word != "0" && word != "1")
    fail(Exit::usage, fmt::format("ZERORUN_SANDBOX is '{}'; it takes 0 or 1", word));
  const CLI::Option* const option = command.get_option_no_throw("--sandbox");
  if (!g_is_child && option != nullptr && option->count() > 0)
    fail(Exit::usage, "--sandbox stands behind the command, and takes no value");
}

void drop_rights(const CLI::App& command) {
  if (!is_built()) fail(Exit::failed, "--sandbox: this build has no sandbox (it needs libseccomp)");
  const FileRights files = file_rights(command);
  // Takes the CPU: the bytes are the same, and the driver of a GPU would be a large opening.
  if (!files.with_gpu) setenv("CUDA_VISIBLE_DEVICES", "", 1);
  if (const std::string problem = leave_kernel_rights(files); !problem.empty())
    fail(Exit::failed, "--sandbox: " + problem);
}

}  // namespace zerorun::app::sandbox
