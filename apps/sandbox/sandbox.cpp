// SPDX-License-Identifier: MIT
#include "apps/sandbox/sandbox.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <link.h>
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
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "apps/common/process.hpp"
#include "apps/common/reports.hpp"
#include "apps/sandbox/kernel_rights.hpp"
#include "zerorun/content.hpp"

namespace zerorun::app::sandbox {
namespace {

namespace fs = std::filesystem;
using Paths = std::vector<std::string>;

void add(Paths& paths, const std::string& path) {
  if (std::ranges::find(paths, path) == paths.end()) paths.push_back(path);
}

std::string folder_of(const fs::path& path) {
  const fs::path folder = path.parent_path();
  return folder.empty() ? "." : folder.string();
}

/// The folder of a pattern or glob: what stands before the first part with a wildcard.
std::string fixed_folder(const fs::path& pattern) {
  fs::path fixed;
  for (const fs::path& part : pattern.parent_path()) {
    if (part.string().find_first_of("%#*?[") != std::string::npos) break;
    fixed /= part;
  }
  return fixed.empty() ? "." : fixed.string();
}

/// The folders of the files that a list names: the user hands them over with it.
void add_listed(Paths& paths, const std::string& list) {
  add(paths, folder_of(list));
  std::ifstream in(list);
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (!line.empty()) add(paths, fixed_folder(fs::path(list).parent_path() / line));
  }
}

void add_input(Paths& paths, const std::string& word) {
  std::error_code ignored;
  if (word.empty() || word == "-") return;
  if (fs::exists(word, ignored))
    add(paths, word);
  else if (word[0] == '@')
    add_listed(paths, word.substr(1));
  else
    add(paths, fixed_folder(word));
}

/// A file is written beside its name and renamed. A device or a pipe is opened as it is.
void add_output(Paths& paths, std::string word) {
  std::error_code ignored;
  if (word.starts_with("md5:")) word.erase(0, 4);
  if (word.empty() || word == "-" || word == "null:") return;
  const fs::file_status status = fs::status(word, ignored);
  if (fs::exists(status) && !fs::is_regular_file(status)) return add(paths, word);
  add(paths, fixed_folder(word));
}

/// Libraries are opened when they are needed, so their folders stay readable.
void add_libraries(Paths& paths) {
  for (const char* const path : {"/usr/lib", "/usr/lib64", "/usr/local/lib", "/lib", "/lib64",
                                 "/etc/ld.so.cache", "/usr/share/zoneinfo"})
    add(paths, path);
  const auto visit = [](dl_phdr_info* info, std::size_t, void* out) {
    if (info->dlpi_name != nullptr && info->dlpi_name[0] == '/')
      add(*static_cast<Paths*>(out), folder_of(info->dlpi_name));
    return 0;
  };
  dl_iterate_phdr(visit, &paths);
  const char* const more = std::getenv("LD_LIBRARY_PATH");
  std::string_view folders = more == nullptr ? "" : more;
  while (!folders.empty()) {
    const std::size_t end = std::min(folders.find(':'), folders.size());
    if (end > 0) add(paths, std::string(folders.substr(0, end)));
    folders.remove_prefix(std::min(end + 1, folders.size()));
  }
}

/// Facts about the processors and the process itself.
void add_machine(FileRights& rights) {
  for (const char* const path :
       {"/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/sys/devices/system",
        "/sys/fs/cgroup", "/dev/urandom", "/dev/random", "/dev/zero"})
    add(rights.readable, path);
  add(rights.writable, "/dev/null");
}

void add_gpu(FileRights& rights) {
  rights.with_gpu = true;
  for (const char* const path : {"/proc", "/sys", "/usr", "/etc"}) add(rights.readable, path);
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/dev", ignored))
    if (entry.path().filename().string().starts_with("nvidia"))
      add(rights.writable, entry.path().string());
  add(rights.writable, "/dev/shm");
}

/// A camera is a device; an address needs what names and certificates are looked up in.
void add_address(FileRights& rights, const std::string& word) {
  rights.with_camera = word.starts_with("v4l2:");
  rights.with_network = !rights.with_camera;
  if (rights.with_camera) return add(rights.writable, word.substr(word.find(':') + 1));
  for (const char* const path :
       {"/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/nsswitch.conf", "/etc/gai.conf",
        "/etc/ssl", "/etc/gnutls", "/etc/pkcs11", "/usr/share/ca-certificates",
        "/usr/share/p11-kit", "/run/systemd/resolve"})
    add(rights.readable, path);
}

bool names_file(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return type.find("FILE") != std::string::npos;
}

/// What the options of `command` name: the files of INPUT, the folder of OUTPUT (where its
/// unfinished file lies, too), files of options, and what libraries and drivers read.
FileRights file_rights(const CLI::App& command) {
  FileRights rights;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& word : option->results()) {
      const std::string name = option->get_name();
      if (name == "--output" || name == "--stats") {
        add_output(rights.writable, word);
      } else if (name == "--device" && word.starts_with("cuda")) {
        add_gpu(rights);
      } else if (option->get_type_name() == "INPUT" && io::is_address(word)) {
        add_address(rights, word);
      } else if (option->get_type_name() == "INPUT") {
        add_input(rights.readable, word);
      } else if (std::error_code ignored; names_file(*option) && fs::exists(word, ignored)) {
        add(rights.readable, word);  // some take a word instead of a file
      }
    }
  add_libraries(rights.readable);
  add_machine(rights);
  return rights;
}

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
  Progress::print_failed_event(argc, argv, Exit::input, sentence);
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
#if ZERORUN_HAVE_SANDBOX
  const FileRights files = file_rights(command);
  // Takes the CPU: the bytes are the same, and the driver of a GPU would be a large opening.
  if (!files.with_gpu) setenv("CUDA_VISIBLE_DEVICES", "", 1);
  if (const std::string problem = leave_kernel_rights(files); !problem.empty())
    fail(Exit::failed, "--sandbox: " + problem);
#else
  (void)file_rights(command);
  fail(Exit::failed, "--sandbox: this build has no sandbox (it needs libseccomp)");
#endif
}

}  // namespace zerorun::app::sandbox
