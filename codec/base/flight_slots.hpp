// Which job of a FlightRing is in which slot, and what happens to it next. Knows no threads.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace zerorun {

/// Jobs are numbered from 0 in the order in which they are added. Every member needs the lock of
/// the ring.
template <typename Job>
class FlightSlots {
 public:
  enum class Step : std::uint8_t { queued, running, finished, dropped };

  struct Slot {
    Step step = Step::queued;
    bool discarded = false;  // while running: nobody receives the job
    bool added_finished = false;
    Job job;
  };

  explicit FlightSlots(int depth) : slots_(static_cast<std::size_t>(depth)), order_(slots_.size()) {
    for (Slot& slot : slots_) free_.push_back(&slot);
  }

  int depth() const noexcept { return static_cast<int>(slots_.size()); }
  int in_flight() const noexcept { return static_cast<int>(submitted_ - received_); }
  int finished() const noexcept { return finished_; }  ///< of the jobs in flight
  /// Of the jobs in flight that lanes have begun: those that they work on or have finished. The
  /// others that are finished may stand behind jobs that wait for a lane.
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

  /// Ends Step::running. True if nobody receives the job: `keep` is false, or it was discarded.
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

}  // namespace zerorun
