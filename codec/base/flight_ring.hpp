// The engine for what is in flight: frames of AsyncEncoder and AsyncDecoder, of the program's
// commands and of its player, and blocks of a file that are read ahead.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "zerorun/status.hpp"

namespace zerorun {

/// Which job of a FlightRing is in which slot, and what happens to it next. Knows no threads.
///
/// Jobs are numbered from 0 in the order in which they are added. Every member needs the lock of
/// the ring.
template <typename Job>
class FlightSlots {
 public:
  enum class Step : std::uint8_t { queued, running, finished, dropped };

  struct Slot {
    Step step = Step::queued;
    bool discarded = false;  // while running: the job is not received
    bool added_finished = false;
    Job job;
  };

  explicit FlightSlots(int depth) : slots_(static_cast<std::size_t>(depth)), order_(slots_.size()) {
    for (Slot& slot : slots_) free_.push_back(&slot);
  }

  int depth() const noexcept { return static_cast<int>(slots_.size()); }
  int in_flight() const noexcept { return static_cast<int>(submitted_ - received_); }
  int finished() const noexcept { return finished_; }  ///< of the jobs in flight
  /// Jobs in flight that lanes work on or have finished. Jobs that were added finished do not
  /// count: they may stand behind jobs that wait for a lane.
  int begun() const noexcept { return running_ + finished_ - added_finished_; }
  int discarded() const noexcept { return discarded_; }  ///< that lanes still work on
  std::int64_t submitted() const noexcept { return submitted_; }
  bool is_full() const noexcept { return in_flight() == depth() || free_.empty(); }

  /// A slot for the next job. The one that was used last comes first: it is in the cache.
  Slot& free_slot() const { return *free_.back(); }
  Slot& take_free() {
    Slot& slot = *free_.back();
    free_.pop_back();
    return slot;
  }
  void give_back(Slot& slot) { free_.push_back(&slot); }

  void add(Slot& slot, Step step) {
    slot.step = step;
    slot.added_finished = step == Step::finished;
    if (slot.added_finished) ++finished_, ++added_finished_;
    at(submitted_++) = &slot;
  }

  /// Whether a job waits for a lane.
  bool has_queued() {
    while (begun_ < submitted_ && at(begun_)->step != Step::queued) ++begun_;
    return begun_ < submitted_;
  }
  Slot& begin_next() {
    Slot& slot = *at(begun_++);
    slot.step = Step::running;
    ++running_;
    return slot;
  }

  /// Ends Step::running. True if the job is not received: `keep` is false, or it was discarded.
  bool end_work(Slot& slot, bool keep) {
    if (std::exchange(slot.discarded, false)) {
      --discarded_;
      give_back(slot);
      return true;
    }
    --running_;
    slot.step = keep ? Step::finished : Step::dropped;
    if (keep) ++finished_;
    pass_dropped();
    return !keep;
  }

  /// The oldest job in flight, which is never a dropped one; null if there is none.
  Slot* oldest() const { return received_ < submitted_ ? order_[index(received_)] : nullptr; }

  /// Makes the slot of the oldest job, which is finished, free.
  void remove_oldest() {
    Slot& slot = *at(received_++);
    give_back(slot);
    --finished_;
    if (slot.added_finished) --added_finished_;
    begun_ = std::max(begun_, received_);
    pass_dropped();
  }

  /// Empties the ring but for the jobs that lanes work on, which leave when their work ends. Calls
  /// drop(job) for those that leave now and were not dropped before.
  template <typename Drop>
  void discard(const Drop& drop) {
    for (; received_ < submitted_; ++received_) {
      Slot& slot = *at(received_);
      slot.discarded = slot.step == Step::running;
      if (slot.discarded) continue;
      if (slot.step != Step::dropped) drop(slot.job);
      give_back(slot);
    }
    begun_ = submitted_;
    discarded_ += std::exchange(running_, 0);
    finished_ = added_finished_ = 0;
  }

 private:
  std::size_t index(std::int64_t n) const { return static_cast<std::size_t>(n) % order_.size(); }
  Slot*& at(std::int64_t n) { return order_[index(n)]; }

  void pass_dropped() {
    while (received_ < begun_ && at(received_)->step == Step::dropped) give_back(*at(received_++));
  }

  std::vector<Slot> slots_;
  std::vector<Slot*> free_;
  std::vector<Slot*> order_;                               // job n is in order_[n % depth]
  std::int64_t submitted_ = 0, begun_ = 0, received_ = 0;  // received_ <= begun_ <= submitted_
  int running_ = 0, finished_ = 0, added_finished_ = 0, discarded_ = 0;
};

/// The result of the read step.
enum class JobRead : std::uint8_t {
  queued,  ///< a lane works on it
  done,    ///< no lane has to work on it
  last,    ///< as done, and no job follows
  none,    ///< no job: the input has ended
};

/// Jobs go in one after the other, several lanes work on them at a time, and they come out in the
/// order in which they went in. At most `depth` jobs are in flight; their objects are reused.
///
/// A job takes three steps. It is made in order, by Steps::read on a thread of the ring or by
/// submit() on any thread; a lane works on it, which is a thread that runs Steps::work; and it is
/// received in order. Steps must not throw.
///
/// Any thread may call any member at any time, with two exceptions: call start() once, before all
/// others, and do not destroy the ring while another call runs.
template <typename Job>
class FlightRing {
 public:
  struct Steps {
    /// Runs on lane `lane`, counted from 0. False drops the job: it is not received.
    std::function<bool(Job&, int lane)> work;
    /// Makes the next job, on the reader thread, and may block for ever. The destructor does not
    /// wait for that, so the step must own what it uses. `generation` counts the calls of
    /// discard() so far; a job that was begun before discard() is dropped.
    std::function<JobRead(Job&, int generation)> read = {};
    /// Bounds reading beyond `depth`. Called with the ring locked, again after each change.
    std::function<bool()> may_read = {};
    /// Takes back what a dropped job holds. Called with the ring locked.
    std::function<void(Job&)> drop = {};
    /// Called by the destructor if it had to leave a reader thread running that hangs in its step.
    std::function<void()> left_behind = {};
  };

  struct Flight {
    int jobs;      ///< in flight: made and not yet received
    int finished;  ///< of these, ready to be received
    bool ended;    ///< no job follows
  };

  /// At most `max_begun` jobs are being worked on, or were and are not yet received.
  FlightRing(int depth, Steps steps, int max_begun = INT32_MAX)
      : state_(std::make_shared<State>(depth, std::move(steps), max_begun)) {}

  /// Drops what is in flight. Waits for the lanes, but at most 0.3 s for the reader: a read from a
  /// file returns soon, one from an empty pipe may never.
  ~FlightRing();
  FlightRing(const FlightRing&) = delete;
  FlightRing& operator=(const FlightRing&) = delete;

  /// Starts the reader if there is a read step, and the lanes. If the system refuses some lanes,
  /// the others do the work; if it refuses all, std::system_error is thrown.
  void start(int lanes);

  /// Adds a job made by `fill(job, number)`, which is called with the ring locked and only if there
  /// is no error. `number` counts from 0. Errors: queue_full (unless `wait`), already_finished.
  template <typename Fill>
  Status submit(bool wait, const Fill& fill);

  /// Waits until receive() gives a job or the end, but not longer than `time`.
  void wait_ready(std::chrono::duration<double> time) {
    std::unique_lock lock(state_->mutex);
    state_->receivers.wait_for(lock, time, [this] { return state_->is_ready(); });
  }

  /// Passes the oldest job, once it is finished, to `take(job)`, which is called with the ring
  /// locked and leaves in the job what a later one can reuse.
  template <typename Take>
  Received receive(bool wait, const Take& take);

  /// The oldest job in flight; null if there is none, or if it is not finished and `finished` is
  /// set. For a single receiving thread: valid until that thread calls receive() or discard().
  const Job* oldest(bool finished) const {
    const std::lock_guard lock(state_->mutex);
    const auto* const slot = state_->slots.oldest();
    return slot != nullptr && (!finished || state_->is_ready()) ? &slot->job : nullptr;
  }

  /// Ends the input: what is in flight can still be received. False if it had ended before.
  bool finish() {
    const std::lock_guard lock(state_->mutex);
    state_->space.notify_all();
    state_->receivers.notify_all();
    return !std::exchange(state_->ended, true);
  }

  /// Drops all jobs in flight and the one that is being read. With `wait` it returns when no lane
  /// works on a dropped job any more. The input continues, also if it had ended.
  void discard(bool wait);

  /// Only the first `lanes` lanes begin jobs from here on.
  void use_lanes(int lanes) {
    const std::lock_guard lock(state_->mutex);
    state_->used_lanes = lanes;
    state_->work.notify_all();
  }

  Flight flight() const {
    const std::lock_guard lock(state_->mutex);
    return {state_->slots.in_flight(), state_->slots.finished(), state_->ended};
  }
  int depth() const noexcept { return state_->slots.depth(); }
  int lanes() const noexcept { return static_cast<int>(lanes_.size()); }

 private:
  using Slots = FlightSlots<Job>;

  struct State {
    State(int depth, Steps s, int begun_limit)
        : steps(std::move(s)), max_begun(begun_limit), slots(depth) {}

    bool may_read() const {
      return !ended && !slots.is_full() && (!steps.may_read || steps.may_read());
    }
    bool may_begin(int lane) {
      return lane < used_lanes && slots.begun() < max_begun && slots.has_queued();
    }
    bool is_ready() const {
      const auto* const slot = slots.oldest();
      return slot != nullptr ? slot->step == Slots::Step::finished : ended;
    }
    void drop(Job& job) {
      if (steps.drop) steps.drop(job);
    }
    /// A lane that is woken might not be in use, or might have to wait for receive().
    void wake_lanes() { used_lanes == INT32_MAX ? work.notify_one() : work.notify_all(); }

    const Steps steps;
    const int max_begun;
    std::mutex mutex;                   // guards everything below
    std::condition_variable work;       // lanes: a job may be begun
    std::condition_variable receivers;  // a job was finished or dropped, or the input ended
    std::condition_variable space;      // submitters and the reader: a job may be added
    Slots slots;
    int used_lanes = INT32_MAX;
    int generation = 0;
    bool ended = false, stopping = false, reader_done = false;
  };

  static void read_all(std::shared_ptr<State> state);
  static void work_all(State& state, int lane);

  std::shared_ptr<State> state_;  // shared with the reader
  std::thread reader_;
  std::vector<std::thread> lanes_;
};

template <typename Job>
FlightRing<Job>::~FlightRing() {
  State& s = *state_;
  std::unique_lock lock(s.mutex);
  s.stopping = true;
  s.work.notify_all();
  s.space.notify_all();
  lock.unlock();
  for (std::thread& lane : lanes_) lane.join();
  if (!reader_.joinable()) return;
  lock.lock();
  const bool is_back =
      s.receivers.wait_for(lock, std::chrono::milliseconds(300), [&s] { return s.reader_done; });
  lock.unlock();
  if (is_back) {
    reader_.join();
  } else {
    reader_.detach();
    if (s.steps.left_behind) s.steps.left_behind();
  }
}

template <typename Job>
void FlightRing<Job>::start(int lanes) {
  if (state_->steps.read) reader_ = std::thread(read_all, state_);
  lanes_.reserve(static_cast<std::size_t>(lanes));
  try {
    for (int lane = 0; lane < lanes; ++lane)
      lanes_.emplace_back([this, lane] { work_all(*state_, lane); });
  } catch (const std::system_error&) {
    if (lanes_.empty()) throw;
  }
}

template <typename Job>
void FlightRing<Job>::read_all(std::shared_ptr<State> state) {
  State& s = *state;
  std::unique_lock lock(s.mutex);
  for (;;) {
    s.space.wait(lock, [&s] { return s.stopping || s.may_read(); });
    if (s.stopping) break;
    auto& slot = s.slots.take_free();
    const int generation = s.generation;
    lock.unlock();
    const JobRead result = s.steps.read(slot.job, generation);
    lock.lock();
    if (s.stopping) break;
    const bool is_late = s.ended || s.generation != generation;
    if (is_late || result == JobRead::none) {
      s.drop(slot.job);
      s.slots.give_back(slot);
    } else if (result == JobRead::queued) {
      s.slots.add(slot, Slots::Step::queued);
      s.wake_lanes();
    } else {
      s.slots.add(slot, Slots::Step::finished);
    }
    if (!is_late) s.ended = result == JobRead::last || result == JobRead::none;
    s.receivers.notify_all();
  }
  s.reader_done = true;
  s.receivers.notify_all();
}

template <typename Job>
void FlightRing<Job>::work_all(State& s, int lane) {
  std::unique_lock lock(s.mutex);
  for (;;) {
    s.work.wait(lock, [&s, lane] { return s.stopping || s.may_begin(lane); });
    if (s.stopping) return;
    auto& slot = s.slots.begin_next();
    lock.unlock();
    const bool keep = s.steps.work(slot.job, lane);
    lock.lock();
    if (s.slots.end_work(slot, keep)) {
      s.drop(slot.job);
      s.space.notify_all();
      s.work.notify_all();
    }
    s.receivers.notify_all();
  }
}

template <typename Job>
template <typename Fill>
Status FlightRing<Job>::submit(bool wait, const Fill& fill) {
  State& s = *state_;
  std::unique_lock lock(s.mutex);
  if (wait) s.space.wait(lock, [&s] { return s.ended || !s.slots.is_full(); });
  if (s.ended) return Status(Errc::already_finished);
  if (s.slots.is_full())
    return Status(Errc::queue_full, std::to_string(depth()) + " frames are in flight");
  fill(s.slots.free_slot().job, s.slots.submitted());
  s.slots.add(s.slots.take_free(), Slots::Step::queued);
  s.wake_lanes();
  return Status::ok();
}

template <typename Job>
template <typename Take>
Received FlightRing<Job>::receive(bool wait, const Take& take) {
  State& s = *state_;
  std::unique_lock lock(s.mutex);
  if (wait) s.receivers.wait(lock, [&s] { return s.is_ready(); });
  if (!s.is_ready()) return Received::not_yet;
  auto* const slot = s.slots.oldest();
  if (slot == nullptr) return Received::end;
  take(slot->job);
  s.slots.remove_oldest();
  s.space.notify_one();
  if (s.max_begun != INT32_MAX) s.work.notify_all();
  s.receivers.notify_all();  // other receivers wait for other jobs, or for the end
  return Received::frame;
}

template <typename Job>
void FlightRing<Job>::discard(bool wait) {
  State& s = *state_;
  std::unique_lock lock(s.mutex);
  s.slots.discard([&s](Job& job) { s.drop(job); });
  s.ended = false;
  ++s.generation;
  s.space.notify_all();
  s.work.notify_all();
  s.receivers.notify_all();
  if (wait) s.receivers.wait(lock, [&s] { return s.slots.discarded() == 0; });
}

}  // namespace zerorun
