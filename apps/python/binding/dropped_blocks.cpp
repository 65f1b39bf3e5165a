// Device memory that Python has dropped: it is used again, or freed by a thread that there is for
// this.
// SPDX-License-Identifier: MIT
#include "apps/python/binding/dropped_blocks.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <iterator>
#include <map>
#include <mutex>
#include <new>
#include <span>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "apps/python/binding/device_memory.hpp"
#include "apps/python/binding/forks.hpp"

namespace zerorun::python {
namespace {

using Clock = std::chrono::steady_clock;

/// Waits for what the default stream of the device has to do by now.
bool wait_for_default_stream(int device) {
  const OnDevice current(device);
  cudaEvent_t event = nullptr;
  constexpr unsigned kFlags = cudaEventDisableTiming | cudaEventBlockingSync;
  bool done = cudaEventCreateWithFlags(&event, kFlags) == cudaSuccess;
  done = done && cudaEventRecord(event, nullptr) == cudaSuccess;
  done = done && cudaEventSynchronize(event) == cudaSuccess;
  if (event != nullptr) (void)cudaEventDestroy(event);
  if (!done) (void)cudaGetLastError();
  return done;
}

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

  std::optional<DroppedBlock> reuse(std::size_t bytes, int device) {
    const std::lock_guard lock(mutex_);
    const auto found = ready_.lower_bound({device, bytes});
    const std::size_t most = bytes + bytes / 4 + (std::size_t{64} << 10);
    if (found == ready_.end() || found->first.first != device || found->first.second > most)
      return std::nullopt;
    const DroppedBlock block = found->second.block;
    ready_.erase(found);
    return block;
  }

  void free_all() {
    std::unique_lock lock(mutex_);
    if (!thread_.joinable() || generation_ != fork_generation()) return;
    const std::uint64_t turn = ++asked_;
    is_awake_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return freed_all_ >= turn || ended_; });
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
  struct Ready {
    DroppedBlock block;
    Clock::time_point since;
  };

  using Kept = std::multimap<std::pair<int, std::size_t>, Ready>;  ///< by device and size

  bool has_thread();
  void work();
  void make_ready(std::span<const DroppedBlock> blocks, std::unique_lock<std::mutex>& lock);
  bool keep(const DroppedBlock& block);
  void free_ready(bool all, std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<DroppedBlock> blocks_;  ///< with which the default stream may not be done
  Kept ready_;
  bool is_awake_ = false;                    ///< the thread has or gets something to do
  std::uint64_t asked_ = 0, freed_all_ = 0;  ///< how often all were to be freed, and were
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

void Dropped::work() {
  constexpr std::chrono::microseconds kForMore{50};
  constexpr std::chrono::seconds kLook{1};
  std::unique_lock lock(mutex_);
  while (!ended_) {
    const auto has_work = [this] { return ended_ || is_awake_; };
    if (ready_.empty())
      changed_.wait(lock, has_work);
    else
      changed_.wait_for(lock, kLook, has_work);
    if (is_awake_ && asked_ == freed_all_) {
      lock.unlock();
      std::this_thread::sleep_for(kForMore);
      lock.lock();
    }
    std::vector<DroppedBlock> taken;
    taken.swap(blocks_);
    is_awake_ = false;
    const std::uint64_t turn = asked_;
    const bool all = turn != freed_all_;
    if (all)
      for (const DroppedBlock& block : taken) free_block(block);
    else
      make_ready(taken, lock);
    free_ready(all, lock);
    if (all) {
      freed_all_ = turn;
      changed_.notify_all();
    }
  }
}

/// Blocks that cannot be kept are freed.
void Dropped::make_ready(std::span<const DroppedBlock> blocks, std::unique_lock<std::mutex>& lock) {
  int last = -1;
  bool is_done = false;
  for (const DroppedBlock& block : blocks) {
    if (block.device != last) {
      lock.unlock();
      is_done = wait_for_default_stream(block.device);
      lock.lock();
      last = block.device;
    }
    if (!is_done || !keep(block)) free_block(block);
  }
}

bool Dropped::keep(const DroppedBlock& block) try {
  ready_.insert({{block.device, block.bytes}, {block, Clock::now()}});
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

void Dropped::free_ready(bool all, std::unique_lock<std::mutex>& lock) {
  constexpr std::chrono::seconds kUseless{1};
  const Clock::time_point now = Clock::now();
  Kept old;
  for (auto it = ready_.begin(); it != ready_.end();) {
    const auto next = std::next(it);
    if (all || now - it->second.since >= kUseless) old.insert(ready_.extract(it));
    it = next;
  }
  lock.unlock();
  for (const auto& [key, kept] : old) free_block(kept.block);
  lock.lock();
}

}  // namespace

void free_block(const DroppedBlock& block) {
  const OnDevice current(block.device);
  if (cudaFreeAsync(block.data, stream_of(block.stream)) != cudaSuccess) (void)cudaGetLastError();
}

void drop_block(const DroppedBlock& block) {
  if (!dropped().take(block)) free_block(block);
}

std::optional<DroppedBlock> reuse_block(std::size_t bytes, int device) {
  return dropped().reuse(bytes, device);
}

void free_dropped_blocks() { dropped().free_all(); }

}  // namespace zerorun::python
