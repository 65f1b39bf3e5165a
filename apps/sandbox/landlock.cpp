// Landlock says which files may be opened.
// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <string>

#include "apps/sandbox/kernel_parts.hpp"

namespace zerorun::app::sandbox {
namespace {

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
RulesetAttributes everything(long version) {
  RulesetAttributes all;
  all.files = kVersion1;
  if (version >= 2) all.files |= kRefer;
  if (version >= 3) all.files |= kTruncate;
  if (version >= 5) all.files |= kIoctl;
  if (version >= 4) all.network = 3;  // to bind and to connect TCP
  if (version >= 6) all.scopes = 3;   // abstract sockets, signals to others
  return all;
}

/// A path that is not there needs no rule: nobody can make it.
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
  if (!files.with_gpu) write &= ~std::uint64_t{kIoctl};
  for (const std::string& path : files.readable)
    if (std::string problem = allow(ruleset, path, read); !problem.empty()) return problem;
  for (const std::string& path : files.writable)
    if (std::string problem = allow(ruleset, path, write); !problem.empty()) return problem;
  return "";
}

}  // namespace

std::string leave_files(const FileRights& files) {
  constexpr unsigned kAskVersion = 1;
  const long version = syscall(SYS_landlock_create_ruleset, nullptr, 0, kAskVersion);
  if (version < 1)
    return "the kernel has no Landlock (Linux 5.13 and newer have it, if it is switched on)";
  const RulesetAttributes all = everything(version);
  const auto ruleset = static_cast<int>(syscall(SYS_landlock_create_ruleset, &all, sizeof(all), 0));
  if (ruleset < 0) return system_sentence("Landlock");
  std::string problem = add_rules(ruleset, files, all.files);
  if (problem.empty() && syscall(SYS_landlock_restrict_self, ruleset, 0) != 0)
    problem = system_sentence("Landlock");
  close(ruleset);
  return problem;
}

}  // namespace zerorun::app::sandbox
