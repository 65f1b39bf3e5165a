// SPDX-License-Identifier: MIT
#include <asm/sockios.h>
#include <fcntl.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <memory>

#include "apps/sandbox/kernel_rights.hpp"

namespace zerorun::app::sandbox {
namespace {

/// `what` and the reason in errno.
std::string system_sentence(const char* what) {
  return std::string(what) + ": " + std::strerror(errno);
}

/// What coding on threads, reading, writing and opening libraries take. Not here, and so refused
/// with EPERM: sockets, processes, chmod and truncate by a path (Landlock does not see them),
/// mounts, keys, tracing, io_uring, bpf, clocks.
constexpr std::array kCalls = {
    // files
    "read", "write", "readv", "writev", "pread64", "pwrite64", "preadv", "pwritev", "preadv2",
    "pwritev2", "close", "close_range", "stat", "fstat", "lstat", "newfstatat", "statx", "statfs",
    "fstatfs", "access", "faccessat", "faccessat2", "lseek", "dup", "dup2", "dup3", "pipe", "pipe2",
    "tee", "splice", "vmsplice", "sendfile", "copy_file_range", "flock", "fsync", "fdatasync",
    "sync_file_range", "syncfs", "ftruncate", "fallocate", "fadvise64", "readahead", "getdents",
    "getdents64", "readlink", "readlinkat", "getcwd", "chdir", "fchdir", "mkdir", "mkdirat",
    "rmdir", "unlink", "unlinkat", "rename", "renameat", "renameat2", "link", "linkat", "umask",
    "poll", "ppoll", "select", "pselect6", "epoll_create1", "epoll_ctl", "epoll_wait",
    "epoll_pwait", "eventfd2", "recvfrom", "recvmsg",
    // memory
    "brk", "mmap", "munmap", "mremap", "mprotect", "madvise", "msync", "mincore", "mlock", "mlock2",
    "munlock", "mbind", "get_mempolicy", "set_mempolicy", "membarrier",
    // threads and signals
    "futex", "futex_waitv", "set_robust_list", "get_robust_list", "set_tid_address", "rseq",
    "arch_prctl", "gettid", "getpid", "getppid", "getpgrp", "getpgid", "getuid", "geteuid",
    "getgid", "getegid", "getgroups", "sched_yield", "sched_getaffinity", "sched_setaffinity",
    "sched_getparam", "sched_getscheduler", "sched_get_priority_max", "sched_get_priority_min",
    "getcpu", "getpriority", "exit", "exit_group", "restart_syscall", "rt_sigaction",
    "rt_sigprocmask", "rt_sigpending", "rt_sigtimedwait", "rt_sigreturn", "rt_sigsuspend",
    "sigaltstack", "pause",
    // time and facts
    "clock_gettime", "clock_getres", "clock_nanosleep", "nanosleep", "gettimeofday", "time",
    "times", "uname", "sysinfo", "getrlimit", "getrusage", "getrandom"};

/// Further calls of NVIDIA's driver. Its ioctls are the large opening that --device cuda leaves.
constexpr std::array kGpuCalls = {
    "ioctl",       "memfd_create",       "mknod",          "mknodat",   "mlockall", "prctl",
    "setpriority", "sched_setscheduler", "sched_setparam", "socketpair"};

/// Further calls of an address.
constexpr std::array kNetworkCalls = {
    "socket",     "connect",    "bind",        "sendto",      "sendmsg",  "sendmmsg",  "recvmmsg",
    "getsockopt", "setsockopt", "getsockname", "getpeername", "shutdown", "socketpair"};

/// Nothing in a command calls these, so one that does has been taken over: it ends here.
constexpr std::array kDeadlyCalls = {"execve",
                                     "execveat",
                                     "ptrace",
                                     "process_vm_readv",
                                     "process_vm_writev",
                                     "bpf",
                                     "init_module",
                                     "finit_module",
                                     "mount",
                                     "setns",
                                     "unshare",
                                     "keyctl"};

/// A filter that is being made. A call that the kernel or libseccomp does not know needs no rule.
class Filter {
 public:
  explicit Filter(std::uint32_t otherwise)
      : context_(seccomp_init(otherwise), &seccomp_release), otherwise_(otherwise) {
    if (!context_) error_ = ENOMEM;
  }

  template <typename... Conditions>
  void add(std::uint32_t action, const char* name, Conditions... conditions) {
    const int call = seccomp_syscall_resolve_name(name);
    if (error_ != 0 || call < 0 || action == otherwise_) return;
    error_ = -seccomp_rule_add(context_.get(), action, call, sizeof...(conditions), conditions...);
  }

  template <typename Names>
  void add_all(std::uint32_t action, const Names& names) {
    for (const char* const name : names) add(action, name);
  }

  /// For all threads there are.
  std::string load() {
    if (error_ == 0) error_ = -seccomp_attr_set(context_.get(), SCMP_FLTATR_CTL_TSYNC, 1);
    if (error_ == 0) error_ = -seccomp_load(context_.get());
    return error_ == 0 ? "" : std::string("seccomp: ") + std::strerror(error_);
  }

 private:
  std::unique_ptr<void, decltype(&seccomp_release)> context_;
  std::uint32_t otherwise_;
  int error_ = 0;
};

/// Threads may be made and processes not. clone3() hides its flags behind a pointer; the C library
/// takes clone() where it is not there.
void add_threads(Filter& filter) {
  constexpr std::uint64_t kThread = 0x00010000;  // CLONE_THREAD
  filter.add(SCMP_ACT_ALLOW, "clone", SCMP_A0(SCMP_CMP_MASKED_EQ, kThread, kThread));
  filter.add(SCMP_ACT_ERRNO(ENOSYS), "clone3");
  const auto self = static_cast<std::uint64_t>(getpid());
  for (const char* const name : {"kill", "tgkill"})  // abort() and raise()
    filter.add(SCMP_ACT_ALLOW, name, SCMP_A0(SCMP_CMP_EQ, self));
}

/// Landlock before version 3 lets O_TRUNC empty a file that may only be read, and before version 5
/// the access mode 3 open any device.
void add_opening(Filter& filter) {
  for (const char* const name : {"open", "openat"}) {
    const unsigned flags = std::strcmp(name, "open") == 0 ? 1 : 2;
    const auto masked = [flags](std::uint64_t mask, std::uint64_t bits) {
      return scmp_arg_cmp{flags, SCMP_CMP_MASKED_EQ, mask, bits};
    };
    filter.add(SCMP_ACT_ALLOW, name, masked(O_ACCMODE | O_TRUNC, O_RDONLY));
    filter.add(SCMP_ACT_ALLOW, name, masked(O_ACCMODE, O_WRONLY));
    filter.add(SCMP_ACT_ALLOW, name, masked(O_ACCMODE, O_RDWR));
  }
}

/// Not F_SETOWN and F_SETSIG: a pipe could then send signals to other processes.
void add_descriptor_calls(Filter& filter) {
  for (const std::uint64_t what :
       {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_GETLK, F_SETLK, F_SETLKW,
        F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW, F_SETPIPE_SZ, F_GETPIPE_SZ, F_ADD_SEALS,
        F_GET_SEALS})
    filter.add(SCMP_ACT_ALLOW, "fcntl", SCMP_A1(SCMP_CMP_EQ, what));
}

/// What sets a terminal or a serial line, types into it, or makes a process the owner of a pipe.
constexpr std::uint64_t kForeignIoctls[] = {
    TIOCSTI, TIOCLINUX, TIOCSETD, TIOCSCTTY, TIOCNOTTY, TIOCSPGRP, TCSETS, TCSETSW, TCSETSF, TCSETA,
    TCSETAW, TCSETAF, TCSETX, TCSETXF, TCSETXW, TCSBRK, TCSBRKP, TIOCSBRK, TIOCCBRK, TCXONC, TCFLSH,
    TIOCEXCL, TIOCNXCL, TIOCSWINSZ, TIOCMBIS, TIOCMBIC, TIOCMSET, TIOCSSOFTCAR, TIOCSSERIAL,
    TIOCSERCONFIG, TIOCSRS485, TIOCSLCKTRMIOS, TIOCPKT, TIOCSPTLCK, TIOCSIG, TIOCVHANGUP, TIOCCONS,
    FIOSETOWN, SIOCSPGRP, FIOASYNC,
    // TCSETS2, TCSETSW2, TCSETSF2: glibc's headers do not have their struct.
    0x402C542B, 0x402C542C, 0x402C542D};

/// NVIDIA's driver has ioctls without number, but a terminal would take one as if it were typed or
/// stop to echo, and a pipe a process that it sends signals to. A filter of its own, which comes
/// first: the strictest answer of all filters counts.
std::string refuse_foreign_ioctls() {
  Filter filter(SCMP_ACT_ALLOW);
  constexpr std::uint64_t kAllBits = 0xFFFFFFFF;  // that the kernel looks at
  for (const std::uint64_t what : kForeignIoctls)
    filter.add(SCMP_ACT_ERRNO(EPERM), "ioctl", SCMP_A1(SCMP_CMP_MASKED_EQ, kAllBits, what));
  for (const std::uint64_t of_console : {0x4B00, 0x5600})  // keys, fonts, modes; which one is seen
    filter.add(SCMP_ACT_ERRNO(EPERM), "ioctl", SCMP_A1(SCMP_CMP_MASKED_EQ, 0xFFFFFF00, of_console));
  return filter.load();
}

/// Is it a terminal, how wide is it, how much is in the pipe; names of threads; limits are read.
void add_questions(Filter& filter) {
  for (const std::uint64_t what : {TCGETS, TIOCGWINSZ, FIONREAD, TIOCGPGRP})
    filter.add(SCMP_ACT_ALLOW, "ioctl", SCMP_A1(SCMP_CMP_EQ, what));
  for (const std::uint64_t what : {PR_SET_NAME, PR_GET_NAME})
    filter.add(SCMP_ACT_ALLOW, "prctl", SCMP_A0(SCMP_CMP_EQ, what));
  filter.add(SCMP_ACT_ALLOW, "prlimit64", SCMP_A0(SCMP_CMP_EQ, 0), SCMP_A2(SCMP_CMP_EQ, 0));
}

/// Seccomp: returns what failed, or "".
std::string leave_calls(const FileRights& files) {
  if (files.with_gpu)
    if (std::string problem = refuse_foreign_ioctls(); !problem.empty()) return problem;
  Filter filter(SCMP_ACT_ERRNO(EPERM));
  filter.add_all(SCMP_ACT_ALLOW, kCalls);
  filter.add_all(SCMP_ACT_KILL_PROCESS, kDeadlyCalls);
  add_threads(filter);
  add_opening(filter);
  add_descriptor_calls(filter);
  if (files.with_network) {
    filter.add_all(SCMP_ACT_ALLOW, kNetworkCalls);
    filter.add(SCMP_ACT_ALLOW, "ioctl", SCMP_A1(SCMP_CMP_EQ, FIONBIO));
  }
  if (files.with_camera)  // the letter V and a direction, which ioctls of consoles do not have
    for (const std::uint64_t direction : {0x40000000U, 0x80000000U, 0xC0000000U})
      filter.add(SCMP_ACT_ALLOW, "ioctl",
                 SCMP_A1(SCMP_CMP_MASKED_EQ, 0xC000FF00, direction | 0x5600));
  if (files.with_gpu) {
    filter.add_all(SCMP_ACT_ALLOW, kGpuCalls);
    filter.add(SCMP_ACT_ALLOW, "prlimit64", SCMP_A0(SCMP_CMP_EQ, 0));
  } else {
    add_questions(filter);
  }
  return filter.load();
}

// <linux/landlock.h> of Debian 12 ends with version 2; the kernel says which it has.
enum : std::uint64_t {
  kWriteFile = 1U << 1,
  kReadFile = 1U << 2,
  kReadFolder = 1U << 3,
  kRefer = 1U << 13,     // version 2: rename into another folder
  kTruncate = 1U << 14,  // version 3
  kIoctl = 1U << 15,     // version 5: of devices
  kVersion1 = (1U << 13) - 1,
  kOnFiles = kWriteFile | kReadFile | kTruncate | kIoctl,
  kMakeSpecial = 1U << 6 | 1U << 9 | 1U << 10 | 1U << 11,  // devices, sockets, pipes
  kExecute = 1U << 0,
};

struct RulesetAttributes {
  std::uint64_t files = 0, network = 0, scopes = 0;
};

struct __attribute__((packed)) PathRule {
  std::uint64_t rights = 0;
  std::int32_t path = -1;
};

constexpr int kPathRule = 1;

/// Everything that the kernel can forbid is forbidden unless a rule allows it.
RulesetAttributes everything(long version, const FileRights& files) {
  RulesetAttributes all;
  all.files = kVersion1;
  if (version >= 2) all.files |= kRefer;
  if (version >= 3) all.files |= kTruncate;
  if (version >= 5) all.files |= kIoctl;
  if (version >= 4 && !files.with_network) all.network = 3;  // to bind and to connect TCP
  if (version >= 6) all.scopes = 3;                          // abstract sockets, signals to others
  return all;
}

/// A path that does not exist needs no rule, because it cannot be made.
std::string allow(int ruleset, const std::string& path, std::uint64_t rights) {
  PathRule rule;
  rule.path = open(path.c_str(), O_PATH | O_CLOEXEC);
  if (rule.path < 0) return "";
  struct stat info {};
  if (fstat(rule.path, &info) == 0 && !S_ISDIR(info.st_mode)) rights &= kOnFiles;
  rule.rights = rights;
  const bool is_added = syscall(SYS_landlock_add_rule, ruleset, kPathRule, &rule, 0) == 0;
  const int error = errno;
  close(rule.path);
  errno = error;
  // Pipes and the like are no files of a disk; Landlock leaves them alone.
  return is_added || errno == EBADFD ? "" : system_sentence(path.c_str());
}

std::string add_rules(int ruleset, const FileRights& files, std::uint64_t handled) {
  const std::uint64_t read = kReadFile | kReadFolder;
  std::uint64_t write = handled & ~std::uint64_t{kExecute | kMakeSpecial};
  if (!files.with_gpu && !files.with_camera) write &= ~std::uint64_t{kIoctl};
  for (const std::string& path : files.readable)
    if (std::string problem = allow(ruleset, path, read); !problem.empty()) return problem;
  for (const std::string& path : files.writable)
    if (std::string problem = allow(ruleset, path, write); !problem.empty()) return problem;
  return "";
}

/// Landlock: returns what failed, or "".
std::string leave_files(const FileRights& files) {
  constexpr unsigned kAskVersion = 1;
  const long version = syscall(SYS_landlock_create_ruleset, nullptr, 0, kAskVersion);
  if (version < 1)
    return "the kernel has no Landlock (Linux 5.13 and newer have it, if it is switched on)";
  const RulesetAttributes all = everything(version, files);
  const auto ruleset = static_cast<int>(syscall(SYS_landlock_create_ruleset, &all, sizeof(all), 0));
  if (ruleset < 0) return system_sentence("Landlock");
  std::string problem = add_rules(ruleset, files, all.files);
  if (problem.empty() && syscall(SYS_landlock_restrict_self, ruleset, 0) != 0)
    problem = system_sentence("Landlock");
  close(ruleset);
  return problem;
}

}  // namespace

std::string leave_kernel_rights(const FileRights& files) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return system_sentence("no_new_privs");
  std::string problem = leave_files(files);
  return problem.empty() ? leave_calls(files) : problem;
}

}  // namespace zerorun::app::sandbox
