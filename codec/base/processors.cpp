// How many threads of this process can run at once: its processors, and what control groups allow.
// SPDX-License-Identifier: MIT
#include "codec/base/processors.hpp"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <exception>
#include <fstream>
#include <iterator>
#include <memory>
#include <thread>

#include "zerorun/backend.hpp"

namespace zerorun {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
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

std::optional<int> limit_of_own_groups() noexcept {
  try {
    return processors_of_groups(text_of("/proc/self/cgroup"), "/sys/fs/cgroup");
  } catch (const std::exception&) {  // no memory is left for a path
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
  // The line of version 2 has no controllers: "0::/a/b".
  constexpr std::string_view kLine = "0::/";
  std::size_t at = groups.starts_with(kLine) ? 0 : groups.find("\n0::/");
  if (at == groups.npos) return std::nullopt;
  if (at > 0) ++at;
  const std::size_t begin = at + kLine.size() - 1;
  std::string group(groups.substr(begin, groups.find('\n', begin) - begin));
  std::optional<int> limit;
  for (;;) {
    limit = least(limit, processors_of_cpu_max(text_of(root + group + "/cpu.max")));
    if (group.empty()) return limit;
    group.erase(group.rfind('/'));
  }
}

int usable_processors() noexcept {
  static const std::optional<int> limit = limit_of_own_groups();
  const std::optional<int> own = processors_of_thread();
  const int all = own ? *own : static_cast<int>(std::thread::hardware_concurrency());
  return std::max(1, least(all, limit).value_or(1));
}

}  // namespace zerorun
