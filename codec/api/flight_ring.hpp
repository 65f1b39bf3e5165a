// What AsyncEncoder and AsyncDecoder have in common: a ring of slots between submit() and
// receive(), and lanes, each a thread with a coder of its own, that do what is in them.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "zerorun/backend.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

struct FlightSizes {
  int lanes, depth;
};

/// What the caller's numbers become, where 0 is automatic. Errors: invalid_argument.
Result<FlightSizes> choose_flight_sizes(int lanes, int depth, Backend backend);

/// `Coder` does a `Job`, and what comes out, `Output`, has the members number, tag and status. Any
/// thread may call any member at any time but start() and the destructor, which waits for the jobs
/// that are being done and drops the others.
template <typename Coder, typename Job, typename Output>
class FlightRing {
 public:
  /// Does a job, on a lane's thread; does not throw.
  using Work = void (*)(Coder& coder, Job& job, Output& output);

  FlightRing() = default;
  ~FlightRing() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    work_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  /// Once. `make_coder` returns a Result<Coder>.
  template <typename MakeCoder>
  Status start(const FlightSizes& sizes, Work work, const MakeCoder& make_coder);

  /// `fill(job, output)` makes the job, with the lock held; after an error it is not called.
  /// Errors: queue_full, already_finished.
  template <typename Fill>
  Status submit(std::uint64_t tag, bool wait, const Fill& fill);

  /// `take(output)` takes what came out, with the lock held.
  template <typename Take>
  Received receive(bool wait, const Take& take);

  void finish();

  /// `drop(output)` is called for every job that was dropped.
  template <typename Drop>
  void discard(const Drop& drop);

  int in_flight() const {
    const std::lock_guard lock(mutex_);
    return static_cast<int>(submitted_ - received_);
  }
  int depth() const noexcept { return static_cast<int>(slots_.size()); }
  int lanes() const noexcept { return static_cast<int>(threads_.size()); }
  Backend backend() const noexcept { return coders_.front().backend(); }

 private:
  struct Slot {
    enum class State : std::uint8_t { free, queued, running, finished };
    State state = State::free;
    Job job;
    Output output;
  };

  Slot& slot(std::int64_t number) {
    return slots_[static_cast<std::size_t>(number % static_cast<std::int64_t>(slots_.size()))];
  }
  bool full() const { return submitted_ - received_ == static_cast<std::int64_t>(slots_.size()); }
  void run_lane(Coder& coder, Work work);

  std::vector<Coder> coders_;  // one a lane
  std::vector<std::thread> threads_;

  mutable std::mutex mutex_;
  std::condition_variable work_;      // for lanes: a job was queued, or stopping
  std::condition_variable finished_;  // for receivers: a job was finished, or the end is there
  std::condition_variable space_;     // for submitters: an output was received
  // Job n is in slot n modulo depth; received_ <= begun_ <= submitted_.
  std::vector<Slot> slots_;
  std::int64_t submitted_ = 0;
  std::int64_t begun_ = 0;
  std::int64_t received_ = 0;
  bool ended_ = false;
  bool stopping_ = false;
};

template <typename Coder, typename Job, typename Output>
template <typename MakeCoder>
Status FlightRing<Coder, Job, Output>::start(const FlightSizes& sizes, Work work,
                                             const MakeCoder& make_coder) {
  slots_.resize(static_cast<std::size_t>(sizes.depth));
  coders_.reserve(static_cast<std::size_t>(sizes.lanes));
  for (int lane = 0; lane < sizes.lanes; ++lane) {
    auto coder = make_coder();
    if (!coder) return coder.status();
    coders_.push_back(*std::move(coder));
  }
  threads_.reserve(coders_.size());
  try {
    for (Coder& coder : coders_)
      threads_.emplace_back([this, &coder, work] { run_lane(coder, work); });
  } catch (const std::system_error& error) {
    // Fewer lanes than asked for do the same work.
    if (threads_.empty())
      return Status(Errc::out_of_memory, std::string("threads: ") + error.what());
  }
  return Status::ok();
}

template <typename Coder, typename Job, typename Output>
void FlightRing<Coder, Job, Output>::run_lane(Coder& coder, Work work) {
  std::unique_lock lock(mutex_);
  for (;;) {
    work_.wait(lock, [this] { return stopping_ || begun_ < submitted_; });
    if (stopping_) return;
    Slot& mine = slot(begun_++);
    mine.state = Slot::State::running;
    lock.unlock();
    work(coder, mine.job, mine.output);
    lock.lock();
    mine.state = Slot::State::finished;
    finished_.notify_all();
  }
}

template <typename Coder, typename Job, typename Output>
template <typename Fill>
Status FlightRing<Coder, Job, Output>::submit(std::uint64_t tag, bool wait, const Fill& fill) {
  std::unique_lock lock(mutex_);
  if (wait) space_.wait(lock, [this] { return ended_ || !full(); });
  if (ended_) return Status(Errc::already_finished);
  if (full())
    return Status(Errc::queue_full, std::to_string(slots_.size()) + " frames are in flight");
  Slot& next = slot(submitted_);
  fill(next.job, next.output);
  next.state = Slot::State::queued;
  next.output.number = submitted_++;
  next.output.tag = tag;
  work_.notify_one();
  return Status::ok();
}

template <typename Coder, typename Job, typename Output>
template <typename Take>
Received FlightRing<Coder, Job, Output>::receive(bool wait, const Take& take) {
  std::unique_lock lock(mutex_);
  const auto ready = [this] {
    return received_ < submitted_ ? slot(received_).state == Slot::State::finished : ended_;
  };
  if (wait) finished_.wait(lock, ready);
  if (!ready()) return Received::not_yet;
  if (received_ == submitted_) return Received::end;
  Slot& oldest = slot(received_++);
  take(oldest.output);
  oldest.state = Slot::State::free;
  space_.notify_one();
  finished_.notify_all();  // other receivers wait for other outputs, or for the end
  return Received::frame;
}

template <typename Coder, typename Job, typename Output>
void FlightRing<Coder, Job, Output>::finish() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  space_.notify_all();
  finished_.notify_all();
}

template <typename Coder, typename Job, typename Output>
template <typename Drop>
void FlightRing<Coder, Job, Output>::discard(const Drop& drop) {
  std::unique_lock lock(mutex_);
  begun_ = submitted_;  // no lane begins another of these
  const std::int64_t last = submitted_;
  finished_.wait(lock, [this, last] {
    for (std::int64_t n = received_; n < last; ++n)
      if (slot(n).state == Slot::State::running) return false;
    return true;
  });
  for (std::int64_t n = received_; n < last; ++n) {
    slot(n).state = Slot::State::free;
    drop(slot(n).output);
  }
  received_ = std::max(received_, last);
  ended_ = false;
  space_.notify_all();
}

}  // namespace zerorun
