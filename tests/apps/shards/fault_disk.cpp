// A disk with faults, to be preloaded into the program: it logs what is written and made durable,
// waits in syncs, fills up, turns read-only, and moves the clock. It only touches files under one
// folder. kills.py sets it up by the environment:
//   FAULT_ROOT    the folder
//   FAULT_LOG     gets a line for every call: nanoseconds, a letter, a path, a number
//   FAULT_GRAVE   a folder that keeps a second name of every journal that is removed
//   FAULT_SYNC_MS how long a sync of a file takes
//   FAULT_ERROR   "N ENOSPC": from the N-th write on all writes fail; EROFS and EIO alike
//   FAULT_CLOCK   seconds by which the wall clock jumps to and fro, at every call
// SPDX-License-Identifier: MIT
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

namespace {

template <typename Function>
Function* next(Function*, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}
#define REAL(function) (*next(&::function, #function))

const char* setting(const char* name) {
  const char* const text = std::getenv(name);
  return text != nullptr ? text : "";
}

bool is_watched(const char* path) {
  static const std::string root = setting("FAULT_ROOT");
  return path != nullptr && !root.empty() && std::strncmp(path, root.c_str(), root.size()) == 0;
}

std::string path_of(int file) {
  char link[64], path[PATH_MAX];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t size = ::readlink(link, path, sizeof path);
  return size > 0 ? std::string(path, static_cast<std::size_t>(size)) : std::string();
}

long size_of(int file) {
  struct stat info {};
  return ::fstat(file, &info) == 0 ? static_cast<long>(info.st_size) : -1;
}

long long nanoseconds() {
  timespec now{};
  REAL(clock_gettime)(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

/// One write a line, so that a kill leaves whole lines.
void note(char letter, const std::string& path, long number) {
  static const int log =
      REAL(open)(setting("FAULT_LOG"), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (log < 0) return;
  char line[PATH_MAX + 64];
  const int size = std::snprintf(line, sizeof line, "%lld %c %s %ld\n", nanoseconds(), letter,
                                 path.c_str(), number);
  if (REAL(write)(log, line, static_cast<std::size_t>(size)) != size) std::abort();
}

/// The errno that this write has to fail with; 0 = it may go on.
int write_error() {
  static std::atomic<long> writes{0};
  static const char* const text = setting("FAULT_ERROR");
  if (*text == '\0') return 0;
  char* end = nullptr;
  const long from = std::strtol(text, &end, 10);
  if (++writes < from) return 0;
  if (std::strstr(end, "EROFS") != nullptr) return EROFS;
  return std::strstr(end, "EIO") != nullptr ? EIO : ENOSPC;
}

int sync_slowly(int file, int (*real)(int)) {
  static const long wait = std::atol(setting("FAULT_SYNC_MS"));
  const std::string path = path_of(file);
  if (!is_watched(path.c_str())) return real(file);
  struct stat info {};
  const bool is_folder = ::fstat(file, &info) == 0 && S_ISDIR(info.st_mode);
  const long size = size_of(file);  // what is added meanwhile may not be durable
  if (wait > 0 && !is_folder) ::usleep(static_cast<useconds_t>(wait) * 1000);
  const int result = real(file);
  if (result == 0) note(is_folder ? 'D' : 'S', path, size);
  return result;
}

/// An hour here, a year there: the wall clock of a machine that somebody sets.
long clock_jump() {
  static const long most = std::atol(setting("FAULT_CLOCK"));
  static std::atomic<std::uint64_t> calls{0};
  if (most == 0) return 0;
  const std::uint64_t hash = ++calls * 0x9E3779B97F4A7C15u >> 33;
  return static_cast<long>(hash % static_cast<std::uint64_t>(2 * most + 1)) - most;
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(list, mode_t) : 0;
  va_end(list);
  struct stat info {};
  const bool is_new = is_watched(path) && (flags & O_CREAT) != 0 && ::lstat(path, &info) != 0;
  if (is_new)
    if (const int error = write_error(); error != 0) {
      errno = error;
      return -1;
    }
  const int file = REAL(open)(path, flags, mode);
  if (file >= 0 && is_new) note('C', path, 0);
  return file;
}

ssize_t pwritev(int file, const iovec* parts, int count, off_t at) {
  const std::string path = path_of(file);
  if (!is_watched(path.c_str())) return REAL(pwritev)(file, parts, count, at);
  if (const int error = write_error(); error != 0) {
    // A full disk takes half of the first part.
    if (error == ENOSPC && count > 0 && parts[0].iov_len > 1)
      (void)!REAL(pwrite)(file, parts[0].iov_base, parts[0].iov_len / 2, at);
    errno = error;
    return -1;
  }
  const ssize_t done = REAL(pwritev)(file, parts, count, at);
  if (done > 0) note('W', path, static_cast<long>(at));
  return done;
}

int fsync(int file) { return sync_slowly(file, REAL(fsync)); }
int fdatasync(int file) { return sync_slowly(file, REAL(fdatasync)); }

int renameat2(int from_folder, const char* from, int to_folder, const char* to,
              unsigned flags) noexcept {
  if (is_watched(from))
    if (const int error = write_error(); error != 0) {
      errno = error;
      return -1;
    }
  const int result = REAL(renameat2)(from_folder, from, to_folder, to, flags);
  if (result == 0 && is_watched(from)) note('R', std::string(from) + " " + to, 0);
  return result;
}

int rename(const char* from, const char* to) noexcept {
  return ::renameat2(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int unlink(const char* path) noexcept {
  const std::string name = path;
  const char* const grave = setting("FAULT_GRAVE");
  if (is_watched(path) && *grave != '\0' && name.ends_with(".journal")) {
    const std::string kept = std::string(grave) + name.substr(name.rfind('/'));
    REAL(unlink)(kept.c_str());
    (void)!::link(path, kept.c_str());
  }
  const int result = REAL(unlink)(path);
  if (result == 0 && is_watched(path)) note('U', name, 0);
  return result;
}

int clock_gettime(clockid_t clock, timespec* out) noexcept {
  const int result = REAL(clock_gettime)(clock, out);
  if (result == 0 && clock == CLOCK_REALTIME) out->tv_sec += clock_jump();
  return result;
}

time_t time(time_t* out) noexcept {
  const time_t now = REAL(time)(nullptr) + clock_jump();
  if (out != nullptr) *out = now;
  return now;
}

}  // extern "C"
