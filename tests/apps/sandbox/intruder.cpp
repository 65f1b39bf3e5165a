// Does what a program does that an input has taken over; preloaded into the program by
// sandbox_test.py. When a file is opened whose name has "intrude" in it, it tries INTRUDER_DOES,
// and writes to stderr "intruder: done" or "intruder: refused". INTRUDER_FILE is the file, program
// or process that it wants.
// SPDX-License-Identifier: MIT
#include <dlfcn.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>

namespace {

using Open = int(const char*, int, ...);

std::string setting(const char* name) {
  const char* const text = std::getenv(name);
  return text != nullptr ? text : "";
}

Open* real_open() {
  static Open* const function = reinterpret_cast<Open*>(dlsym(RTLD_NEXT, "open"));
  return function;
}

bool can_connect() {
  const int made = socket(AF_INET, SOCK_STREAM, 0);
  const int local = socket(AF_UNIX, SOCK_STREAM, 0);
  return made >= 0 || local >= 0;
}

bool can_run() {
  const std::string program = setting("INTRUDER_FILE");
  char* const words[] = {const_cast<char*>(program.c_str()), nullptr};
  execv(program.c_str(), words);
  return false;
}

bool can_fork() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  return child > 0;
}

/// A pipe can send any signal to its owner.
bool can_send_signals() {
  int ends[2];
  return pipe(ends) == 0 && fcntl(ends[0], F_SETOWN, getppid()) == 0;
}

bool can_limit_parent() {
  rlimit limit{};
  return prlimit(getppid(), RLIMIT_CORE, nullptr, &limit) == 0;
}

/// Typing for the user, and changing how the terminal echoes and how large it is.
bool can_change_terminal() {
  termios modes{};
  winsize size{};
  const bool types = ioctl(STDIN_FILENO, TIOCSTI, "x") == 0;
  const bool is_set =
      tcgetattr(STDIN_FILENO, &modes) == 0 && tcsetattr(STDIN_FILENO, TCSANOW, &modes) == 0;
  char modes2[44];  // TCGETS2 and TCSETS2, which newer C libraries use
  const bool is_set2 =
      ioctl(STDIN_FILENO, 0x802C542A, modes2) == 0 && ioctl(STDIN_FILENO, 0x402C542B, modes2) == 0;
  const bool is_emptied = ioctl(STDIN_FILENO, TCFLSH, TCIFLUSH) == 0;
  const bool is_sized =
      ioctl(STDIN_FILENO, TIOCGWINSZ, &size) == 0 && ioctl(STDIN_FILENO, TIOCSWINSZ, &size) == 0;
  return types || is_set || is_set2 || is_emptied || is_sized;
}

/// True if it worked.
bool intrude(const std::string& what) {
  const std::string file = setting("INTRUDER_FILE");
  if (what == "read") return real_open()(file.c_str(), O_RDONLY) >= 0;
  if (what == "write") return real_open()(file.c_str(), O_WRONLY | O_CREAT, 0666) >= 0;
  if (what == "empty") return real_open()(file.c_str(), O_RDONLY | O_TRUNC) >= 0;
  if (what == "device") return real_open()("/dev/full", O_ACCMODE) >= 0;
  if (what == "inherit") return fcntl(std::stoi(file), F_GETFD) >= 0;
  if (what == "owner") return can_send_signals();
  if (what == "limit") return can_limit_parent();
  if (what == "terminal") return can_change_terminal();
  if (what == "truncate") return truncate(file.c_str(), 0) == 0;
  if (what == "remove") return unlink(file.c_str()) == 0;
  if (what == "chmod") return chmod(file.c_str(), 0777) == 0;
  if (what == "socket") return can_connect();
  if (what == "exec") return can_run();
  if (what == "fork") return can_fork();
  if (what == "signal") return kill(getppid(), 0) == 0;
  if (what == "trace") return ptrace(PTRACE_ATTACH, getppid(), nullptr, nullptr) == 0;
  if (what == "crash") std::raise(SIGSEGV);
  if (what == "killed") std::raise(SIGKILL);
  return false;
}

void look_at(const char* path) {
  static std::atomic<bool> is_over{false};
  if (std::strstr(path, "intrude") == nullptr || is_over.exchange(true)) return;
  // Threads may be made, and have no more rights.
  bool is_done = false;
  std::thread([&is_done] { is_done = intrude(setting("INTRUDER_DOES")); }).join();
  const std::string_view text = is_done ? "intruder: done\n" : "intruder: refused\n";
  if (write(STDERR_FILENO, text.data(), text.size()) < 0) _exit(99);
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const auto mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  // The sandbox itself only looks at the file.
  if ((flags & O_PATH) == 0) look_at(path);
  return real_open()(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const auto mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open(path, flags, mode);
}

}  // extern "C"
