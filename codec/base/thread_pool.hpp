// CPU workers that share the parts of one frame, and the processors that control groups allow (for
// usable_processors() of zerorun/backend.hpp).
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "zerorun/status.hpp"

namespace zerorun {

/// A pool starts its threads at once, so a number by mistake would take all that the system has.
inline constexpr int kMaxThreads = 4096;

/// Errors: invalid_argument.
Status validate_threads(int threads);

/// The calling thread works too, so a pool of one worker starts no thread.
class ThreadPool {
 public:
  /// 0: one worker per core.
  explicit ThreadPool(int workers);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int workers() const { return static_cast<int>(threads_.size()) + 1; }

  /// Calls job(item, worker) for every item 0..items-1, worker in 0..workers()-1, and returns when
  /// all are done. Items start in order. An exception of a job is rethrown here.
  void run(std::int64_t items, const std::function<void(std::int64_t, int)>& job);

 private:
  void worker_loop(int worker);
  void work(const std::function<void(std::int64_t, int)>& job, int worker);

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable start_, done_;
  std::uint64_t generation_ = 0;
  int busy_ = 0;  // threads at work, without the one that called run()
  bool stop_ = false;

  const std::function<void(std::int64_t, int)>* job_ = nullptr;  // null: nothing is left to do
  std::int64_t items_ = 0;
  std::atomic<std::int64_t> next_{0};
  std::exception_ptr error_;
};

/// pool->run(), or all items on the calling thread where the pool is null.
template <typename Job>
void run_on(ThreadPool* pool, std::int64_t items, const Job& job) {
  if (pool != nullptr) return pool->run(items, std::cref(job));  // no copy: nothing is allocated
  for (std::int64_t i = 0; i < items; ++i) job(i, 0);
}

/// The processors that a file cpu.max allows: microseconds allowed in a period, and the period.
/// Nothing if there is no limit or the text has another form.
std::optional<int> processors_of_cpu_max(std::string_view text);

/// The least limit of the process's control groups, of both versions, and of all groups above them.
/// `groups`: the text of /proc/self/cgroup. `root`: where control groups are mounted; those of
/// version 1 in folders below.
std::optional<int> processors_of_groups(std::string_view groups, const std::string& root);

}  // namespace zerorun
