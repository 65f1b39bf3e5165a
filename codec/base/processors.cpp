// How many threads of this process can run at once: its processors, and what control groups allow.
// SPDX-License-Identifier: MIT
#include "codec/base/thread_pool.hpp"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <exception>
#include <fstream>
#include <memory>
#include <thread>
#include <utility>

#include "zerorun/backend.hpp"

namespace zerorun {
namespace {

/// Empty if the file is not there or cannot be read.
std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::string text;
  std::getline(file, text, '\0');
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

std::optional<int> least(std::optional<int> a, std::optional<int> b) {
  return a && b ? std::min(a, b) : a ? a : b;
}

/// As the kernel counts them; nothing if it does not say.
std::optional<int> processors_of_thread() {
  constexpr int kMost = 1 << 16;  // the call fails for fewer than the kernel was built for
  for (int most = 1024; most <= kMost; most *= 4) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(
        CPU_ALLOC(static_cast<std::size_t>(most)), [](cpu_set_t* old) { CPU_FREE(old); });
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(most));
    if (set && sched_getaffinity(0, bytes, set.get()) == 0) return CPU_COUNT_S(bytes, set.get());
  }
  return std::nullopt;
}

std::optional<int> limit_of_version_2(const std::string& folder) {
  return processors_of_cpu_max(text_of(folder + "/cpu.max"));
}
/// Version 1 has the two numbers in two files; -1 is no limit.
std::optional<int> limit_of_version_1(const std::string& folder) {
  return processors_of_cpu_max(text_of(folder + "/cpu.cfs_quota_us") + ' ' +
                               text_of(folder + "/cpu.cfs_period_us"));
}

/// The least limit of a group, "/a/b", and of all groups above it.
template <typename Limit>
std::optional<int> least_of_all_above(const std::string& root, std::string group,
                                      const Limit& limit_of) {
  std::optional<int> limit;
  for (;;) {
    limit = least(limit, limit_of(root + group));
    if (group.empty()) return limit;
    group.erase(group.rfind('/'));
  }
}

std::optional<int> limit_of_own_groups() noexcept {
  try {
    return processors_of_groups(text_of("/proc/self/cgroup"), "/sys/fs/cgroup");
  } catch (const std::exception&) {  // no memory is left for a line
    return std::nullopt;
  }
}

}  // namespace

std::optional<int> processors_of_cpu_max(std::string_view text) {
  const char* const end = text.data() + text.size();
  std::uint64_t allowed = 0, period = 0;
  const auto first = std::from_chars(text.data(), end, allowed);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != ' ') return std::nullopt;
  if (std::from_chars(first.ptr + 1, end, period).ec != std::errc()) return std::nullopt;
  if (allowed == 0 || period == 0) return std::nullopt;
  constexpr std::uint64_t kMost = 1 << 20;
  return static_cast<int>(std::min(allowed / period + (allowed % period != 0 ? 1 : 0), kMost));
}

std::optional<int> processors_of_groups(std::string_view groups, const std::string& root) {
  std::optional<int> limit;
  while (!groups.empty()) {
    const std::string_view line = groups.substr(0, groups.find('\n'));
    groups.remove_prefix(std::min(line.size() + 1, groups.size()));
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos || line.substr(second + 1, 1) != "/") continue;
    const std::string controllers =  // ",cpu,cpuacct,"
        ',' + std::string(line.substr(first + 1, second - first - 1)) + ',';
    std::string group(line.substr(second + 1));
    if (controllers == ",,")
      limit = least(limit, least_of_all_above(root, std::move(group), limit_of_version_2));
    else if (controllers.find(",cpu,") != controllers.npos)
      limit = least(limit, least_of_all_above(root + "/cpu", std::move(group), limit_of_version_1));
  }
  return limit;
}

int usable_processors() noexcept {
  static const std::optional<int> limit = limit_of_own_groups();
  const std::optional<int> own = processors_of_thread();
  const int all = own ? *own : static_cast<int>(std::thread::hardware_concurrency());
  return std::max(1, least(all, limit).value_or(1));
}

}  // namespace zerorun
