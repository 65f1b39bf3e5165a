// CPU workers that share the parts of one frame.
// SPDX-License-Identifier: MIT
#include "codec/base/thread_pool.hpp"

#include <algorithm>
#include <exception>
#include <string>
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

}  // namespace zerorun
