// CPU workers that share the parts of one frame; and how many threads of this process can run at
// once: its processors, and what control groups allow.
// SPDX-License-Identifier: MIT
#include "codec/base/thread_pool.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <exception>
#include <fstream>
#include <memory>
#include <sched.h>
#include <string>
#include <thread>
#include <utility>

#include "zerorun/backend.hpp"

namespace zerorun {

Status validate_threads(int threads) {
  if (threads < 0) return Status(Errc::invalid_argument, "the number of threads is negative");
  if (threads <= kMaxThreads) return Status::ok();
  return Status(Errc::invalid_argument,
                std::to_string(threads) + " threads are more than " + std::to_string(kMaxThreads));
}

ThreadPool::ThreadPool(int workers) {
  if (workers <= 0) workers = usable_processors();
  threads_.reserve(static_cast<std::size_t>(workers - 1));
  try {
    for (int worker = 1; worker < workers; ++worker)
      threads_.emplace_back([this, worker] { worker_loop(worker); });
  } catch (const std::exception&) {
    // Fewer threads than asked for do the same work. Those that there are wait here: no exception
    // may leave the constructor.
  }
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  start_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void ThreadPool::run(std::int64_t items, const std::function<void(std::int64_t, int)>& job) {
  if (threads_.empty() || items <= 1) {
    for (std::int64_t i = 0; i < items; ++i) job(i, 0);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    job_ = &job;
    items_ = items;
    next_ = 0;
    ++generation_;
  }
  // A thread that wakes up when nothing is left to do need not be waited for.
  if (items > static_cast<std::int64_t>(threads_.size()))
    start_.notify_all();
  else
    for (std::int64_t i = 1; i < items; ++i) start_.notify_one();
  work(job, 0);
  std::unique_lock lock(mutex_);
  job_ = nullptr;
  done_.wait(lock, [this] { return busy_ == 0; });
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void ThreadPool::work(const std::function<void(std::int64_t, int)>& job, int worker) {
  try {
    for (std::int64_t item; (item = next_.fetch_add(1)) < items_;) job(item, worker);
  } catch (...) {
    next_ = items_;
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::current_exception();
  }
}

void ThreadPool::worker_loop(int worker) {
  std::uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    start_.wait(lock, [&] { return stop_ || (job_ != nullptr && generation_ != seen); });
    if (stop_) return;
    seen = generation_;
    const auto& job = *job_;
    ++busy_;
    lock.unlock();
    work(job, worker);
    lock.lock();
    if (--busy_ == 0) done_.notify_one();
  }
}

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
