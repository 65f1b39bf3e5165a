// CPU workers that share the parts of one frame.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
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

}  // namespace zerorun
