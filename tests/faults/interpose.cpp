// LD_PRELOAD: lets one call of a program fail that opens, writes, renames or closes a file of a
// folder, or sends the program a signal there. faults.py runs programs with it.
//
// ZERORUN_FAULT_FOLDER   calls on files below this folder count, and those on stdout if it is a
// pipe ZERORUN_FAULT_LOG      a file that gets a line for each call that counts: its kind
// ZERORUN_FAULT_AT       the number of the call that fails, from 1; 0 or absent: none
// ZERORUN_FAULT_HOW      an errno by name, `short` (half is written), or a signal: KILL, INT, TERM
// ZERORUN_FAULT_LASTING  1: all calls of that kind fail from then on
// SPDX-License-Identifier: MIT
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

struct Plan {
  std::string folder, how, log;
  long at = 0;
  bool lasting = false;
};

const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

const Plan& plan() {
  static const Plan& one = *new Plan{variable("ZERORUN_FAULT_FOLDER"),
                                     variable("ZERORUN_FAULT_HOW"), variable("ZERORUN_FAULT_LOG"),
                                     std::strtol(variable("ZERORUN_FAULT_AT"), nullptr, 10),
                                     *variable("ZERORUN_FAULT_LASTING") == '1'};
  return one;
}

std::atomic<long> g_calls{0};
std::atomic<const char*> g_failing{nullptr};  // the kind of call that goes on failing

template <typename Function>
Function* next(const char* name, Function*) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}
#define ZR_NEXT(function) next(#function, &function)

bool is_watched(const char* path) {
  const Plan& wanted = plan();
  return !wanted.folder.empty() && path != nullptr &&
         std::strncmp(path, wanted.folder.c_str(), wanted.folder.size()) == 0;
}

bool is_watched(int file) {
  const int before = errno;
  char link[40], path[PATH_MAX];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  errno = before;
  if (length <= 0) return false;
  path[length] = '\0';
  return is_watched(path) || (file == STDOUT_FILENO && std::strncmp(path, "pipe:", 5) == 0);
}

void tell(const char* kind) {
  static const int log =
      plan().log.empty()
          ? -1
          : static_cast<int>(syscall(SYS_openat, AT_FDCWD, plan().log.c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (log < 0) return;
  char line[32];
  const int length = std::snprintf(line, sizeof line, "%s\n", kind);
  (void)syscall(SYS_write, log, line, length);
}

int error_number(const std::string& name) {
  const struct {
    const char* name;
    int number;
  } all[] = {{"ENOSPC", ENOSPC}, {"EIO", EIO},       {"EPIPE", EPIPE},  {"EINTR", EINTR},
             {"EMFILE", EMFILE}, {"ENOMEM", ENOMEM}, {"EACCES", EACCES}};
  for (const auto& one : all)
    if (name == one.name) return one.number;
  return 0;
}

int signal_number(const std::string& name) {
  return name == "KILL" ? SIGKILL : name == "INT" ? SIGINT : name == "TERM" ? SIGTERM : 0;
}

enum class Fate { pass, fail, half };

/// Counts a call of this kind; `fail` has set errno.
Fate fate(const char* kind) {
  const int before = errno;
  const Plan& wanted = plan();
  tell(kind);
  const long number = ++g_calls;
  const char* failing = g_failing;
  const bool is_it = number == wanted.at || (failing != nullptr && std::strcmp(failing, kind) == 0);
  errno = before;
  if (!is_it) return Fate::pass;
  if (const int sent = signal_number(wanted.how); sent != 0) {
    kill(getpid(), sent);
    return Fate::pass;
  }
  if (wanted.lasting) g_failing = kind;
  if (wanted.how == "short") return Fate::half;
  errno = error_number(wanted.how);
  return Fate::fail;
}

/// Shortens the parts to half their bytes; returns how many parts are left.
int halve(iovec* parts, int count) {
  std::size_t all = 0;
  for (int i = 0; i < count; ++i) all += parts[i].iov_len;
  std::size_t room = all / 2 + 1;
  for (int i = 0; i < count; ++i) {
    parts[i].iov_len = parts[i].iov_len < room ? parts[i].iov_len : room;
    room -= parts[i].iov_len;
    if (room == 0) return i + 1;
  }
  return count;
}

constexpr int kMaxParts = 1024;

template <typename Call>
ssize_t write_parts(const char* kind, int file, const iovec* parts, int count, Call call) {
  const Fate now = is_watched(file) ? fate(kind) : Fate::pass;
  if (now == Fate::fail) return -1;
  if (now == Fate::pass || count <= 0 || count > kMaxParts) return call(parts, count);
  iovec fewer[kMaxParts];
  std::memcpy(fewer, parts, sizeof(iovec) * static_cast<std::size_t>(count));
  return call(fewer, halve(fewer, count));
}

std::size_t some(Fate now, std::size_t bytes) {
  return now == Fate::half && bytes > 1 ? bytes / 2 : bytes;
}

mode_t mode_of(int flags, va_list list) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(list, mode_t) : 0;
}

}  // namespace

extern "C" {

ssize_t write(int file, const void* data, size_t bytes) {
  const Fate now = is_watched(file) ? fate("write") : Fate::pass;
  return now == Fate::fail ? -1 : ZR_NEXT(write)(file, data, some(now, bytes));
}

ssize_t pwrite64(int file, const void* data, size_t bytes, off64_t at) {
  const Fate now = is_watched(file) ? fate("write") : Fate::pass;
  return now == Fate::fail ? -1 : ZR_NEXT(pwrite64)(file, data, some(now, bytes), at);
}
ssize_t pwrite(int file, const void* data, size_t bytes, off_t at) {
  return pwrite64(file, data, bytes, at);
}

ssize_t writev(int file, const iovec* parts, int count) {
  return write_parts("write", file, parts, count, [&](const iovec* some_parts, int n) {
    return ZR_NEXT(writev)(file, some_parts, n);
  });
}

ssize_t pwritev64(int file, const iovec* parts, int count, off64_t at) {
  return write_parts("write", file, parts, count, [&](const iovec* some_parts, int n) {
    return ZR_NEXT(pwritev64)(file, some_parts, n, at);
  });
}
ssize_t pwritev(int file, const iovec* parts, int count, off_t at) {
  return pwritev64(file, parts, count, at);
}

ssize_t read(int file, void* data, size_t bytes) {
  const Fate now = is_watched(file) ? fate("read") : Fate::pass;
  return now == Fate::fail ? -1 : ZR_NEXT(read)(file, data, some(now, bytes));
}
ssize_t pread64(int file, void* data, size_t bytes, off64_t at) {
  const Fate now = is_watched(file) ? fate("read") : Fate::pass;
  return now == Fate::fail ? -1 : ZR_NEXT(pread64)(file, data, some(now, bytes), at);
}
ssize_t pread(int file, void* data, size_t bytes, off_t at) {
  return pread64(file, data, bytes, at);
}

int fsync(int file) {
  return is_watched(file) && fate("fsync") == Fate::fail ? -1 : ZR_NEXT(fsync)(file);
}
int fdatasync(int file) {
  return is_watched(file) && fate("fsync") == Fate::fail ? -1 : ZR_NEXT(fdatasync)(file);
}
int ftruncate64(int file, off64_t size) noexcept {
  return is_watched(file) && fate("truncate") == Fate::fail ? -1 : ZR_NEXT(ftruncate64)(file, size);
}
int ftruncate(int file, off_t size) noexcept { return ftruncate64(file, size); }
int fallocate64(int file, int mode, off64_t at, off64_t size) {
  return is_watched(file) && fate("allocate") == Fate::fail
             ? -1
             : ZR_NEXT(fallocate64)(file, mode, at, size);
}
int fallocate(int file, int mode, off_t at, off_t size) {
  return fallocate64(file, mode, at, size);
}

/// The file is closed even if the call fails, as on Linux.
int close(int file) {
  const Fate now = is_watched(file) ? fate("close") : Fate::pass;
  const int reason = errno;
  const int result = ZR_NEXT(close)(file);
  if (now != Fate::fail) return result;
  errno = reason;
  return -1;
}

int rename(const char* from, const char* to) noexcept {
  return is_watched(to) && fate("rename") == Fate::fail ? -1 : ZR_NEXT(rename)(from, to);
}
int renameat2(int from_folder, const char* from, int to_folder, const char* to,
              unsigned flags) noexcept {
  if (is_watched(to) && fate("rename") == Fate::fail) return -1;
  return ZR_NEXT(renameat2)(from_folder, from, to_folder, to, flags);
}

int open64(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = mode_of(flags, list);
  va_end(list);
  return is_watched(path) && fate("open") == Fate::fail ? -1 : ZR_NEXT(open64)(path, flags, mode);
}
int open(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = mode_of(flags, list);
  va_end(list);
  return open64(path, flags, mode);
}
int openat64(int folder, const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = mode_of(flags, list);
  va_end(list);
  return is_watched(path) && fate("open") == Fate::fail
             ? -1
             : ZR_NEXT(openat64)(folder, path, flags, mode);
}
int openat(int folder, const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = mode_of(flags, list);
  va_end(list);
  return openat64(folder, path, flags, mode);
}

void* mmap64(void* address, size_t bytes, int protection, int flags, int file,
             off64_t at) noexcept {
  if (file >= 0 && is_watched(file) && fate("mmap") == Fate::fail) return MAP_FAILED;
  return ZR_NEXT(mmap64)(address, bytes, protection, flags, file, at);
}
void* mmap(void* address, size_t bytes, int protection, int flags, int file, off_t at) noexcept {
  return mmap64(address, bytes, protection, flags, file, at);
}

// The calls inside the C library do not come here, so its files fail as a whole.
FILE* fopen64(const char* path, const char* mode) {
  return is_watched(path) && fate("open") == Fate::fail ? nullptr : ZR_NEXT(fopen64)(path, mode);
}
FILE* fopen(const char* path, const char* mode) { return fopen64(path, mode); }

size_t fwrite(const void* data, size_t size, size_t count, FILE* file) {
  if (is_watched(fileno(file)) && fate("fwrite") == Fate::fail) return 0;
  return ZR_NEXT(fwrite)(data, size, count, file);
}

int fclose(FILE* file) {
  const Fate now = is_watched(fileno(file)) ? fate("close") : Fate::pass;
  const int reason = errno;
  const int result = ZR_NEXT(fclose)(file);
  if (now != Fate::fail) return result;
  errno = reason;
  return EOF;
}

}  // extern "C"
