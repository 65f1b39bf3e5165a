// Many small jobs on a few threads, interrupted by Ctrl-C.
// SPDX-License-Identifier: MIT
#include <nanobind/nanobind.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "apps/python/binding/batch.hpp"
#include "apps/python/binding/failure.hpp"
#include "apps/python/binding/gil.hpp"
#include "zerorun/backend.hpp"

namespace zerorun::python {
namespace {

/// The threads of one call, and how many of them still work.
class JobThreads {
 public:
  JobThreads(std::size_t count, const std::function<void(std::size_t, int)>& job)
      : count_(count), job_(job) {}

  /// Fewer threads than asked for do the same work; one always does.
  void start(int workers) {
    busy_ = workers;
    next_ = static_cast<std::size_t>(workers);
    threads_.reserve(static_cast<std::size_t>(workers));
    int started = 0;
    try {
      for (; started < workers; ++started)
        threads_.emplace_back([this, worker = started] { work(worker); });
    } catch (const std::exception&) {
      for (int worker = started; worker < workers; ++worker) run(worker);
      const std::lock_guard lock(mutex_);
      busy_ -= workers - started;
    }
  }

  /// False after a while without an end.
  bool wait() {
    constexpr std::chrono::milliseconds kLookForSignals{50};
    std::unique_lock lock(mutex_);
    return done_.wait_for(lock, kLookForSignals, [this] { return busy_ <= 0; });
  }

  void stop() {
    stopped_ = true;
    next_ = count_;
  }
  void join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  /// Every worker begins with the item of its own number, as run_jobs() promises.
  void run(int worker) {
    if (const auto first = static_cast<std::size_t>(worker); first < count_ && !stopped_)
      job_(first, worker);
    for (std::size_t item; (item = next_.fetch_add(1)) < count_;) job_(item, worker);
  }
  void work(int worker) {
    run(worker);
    const std::lock_guard lock(mutex_);
    if (--busy_ <= 0) done_.notify_all();
  }

  const std::size_t count_;
  const std::function<void(std::size_t, int)>& job_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  std::condition_variable done_;
  int busy_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace

int worker_count(int wanted, bool is_cuda, std::size_t items) {
  constexpr int kMost = 256;
  if (wanted < 0 || wanted > kMost)
    fail(Errc::invalid_argument, "workers must be from 0 (automatic) to 256");
  const int cores = usable_processors();
  // As AsyncEncoder: four lanes hide each other's copies.
  const int automatic = is_cuda ? 4 : cores;
  const int workers = wanted > 0 ? wanted : automatic;
  return static_cast<int>(
      std::min(static_cast<std::size_t>(workers), std::max<std::size_t>(items, 1)));
}

void run_jobs(std::size_t count, int workers, const std::function<void(std::size_t, int)>& job) {
  JobThreads threads(count, job);
  bool interrupted = false;
  {
    WithoutGil no_gil;
    threads.start(workers);
    while (!threads.wait()) {
      if (no_gil.call_with_gil(PyErr_CheckSignals) == 0) continue;
      interrupted = true;
      threads.stop();
      break;
    }
    threads.join();
  }
  if (interrupted) throw nb::python_error();
}

}  // namespace zerorun::python
