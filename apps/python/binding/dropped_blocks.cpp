// Device memory that Python has dropped, and the thread that frees it.
// SPDX-License-Identifier: MIT
#include "apps/python/binding/dropped_blocks.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "apps/python/binding/device_memory.hpp"
#include "apps/python/binding/forks.hpp"

namespace zerorun::python {
namespace {

class Dropped {
 public:
  /// False: the caller has to free it.
  bool take(const DroppedBlock& block) try {
    const std::lock_guard lock(mutex_);
    if (ended_ || !has_thread()) return false;
    blocks_.push_back(block);
    // To wake a thread is a call of the system, so a batch that is dropped makes one.
    if (!is_awake_) changed_.notify_all();
    is_awake_ = true;
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }

  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !is_awake_; });
  }

  /// A call of CUDA while the process ends may fail in any way.
  void end() {
    if (generation_ != fork_generation()) return;  // the thread is the parent's
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

 private:
  bool has_thread();
  void work() {
    constexpr std::chrono::microseconds kForMore{100};
    std::vector<DroppedBlock> taken;
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return ended_ || is_awake_; });
      if (!is_awake_) return;
      lock.unlock();
      std::this_thread::sleep_for(kForMore);
      lock.lock();
      while (!blocks_.empty()) {
        taken.swap(blocks_);
        lock.unlock();
        for (const DroppedBlock& block : taken) free_block(block);
        taken.clear();
        lock.lock();
      }
      is_awake_ = false;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<DroppedBlock> blocks_;
  bool is_awake_ = false;  ///< blocks are there or are being freed
  bool ended_ = false;
  int generation_ = fork_generation();
  std::thread thread_;
};

Dropped& dropped() {
  static auto& all = *new Dropped;
  return all;
}

/// Makes the thread when the first block is dropped.
bool Dropped::has_thread() try {
  if (thread_.joinable()) return true;
  thread_ = std::thread([this] { work(); });
  // CUDA, which is in use by now, ends after this.
  (void)std::atexit([] { dropped().end(); });
  return true;
} catch (const std::system_error&) {
  return false;
}

}  // namespace

void free_block(const DroppedBlock& block) {
  const OnDevice current(block.device);
  if (cudaFreeAsync(block.data, stream_of(block.stream)) != cudaSuccess) (void)cudaGetLastError();
}

void free_block_soon(const DroppedBlock& block) {
  if (!dropped().take(block)) free_block(block);
}

void wait_for_dropped_blocks() { dropped().wait(); }

}  // namespace zerorun::python
