// How many bytes the next frame may take, from the sizes of the frames before it. Knows no threads.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "codec/arith/leaky_bucket.hpp"
#include "zerorun/async.hpp"

namespace zerorun {

inline constexpr std::int64_t kMostRate = std::int64_t{1} << 50;  // such that sums fit 63 bits

inline std::int64_t bytes_per_frame(const RateLimits& limits) {
  return BucketLeak{limits.bits_per_second, limits.frame_rate_num, limits.frame_rate_den}.next();
}

inline std::int64_t bucket_of(const RateLimits& limits) {
  if (limits.bucket_bytes != 0)
    return static_cast<std::int64_t>(
        std::min(limits.bucket_bytes, static_cast<std::size_t>(kMostRate)));
  return std::max({std::int64_t{2}, limits.bits_per_second / 8, 4 * bytes_per_frame(limits)});
}

/// What budgets follow from.
struct RatePlan {
  struct Frame {
    std::int64_t budget, leaked;
    std::int64_t bytes = -1;  // not yet known
    bool counts = true;       // not in a bucket that was given up
    std::int64_t most = 0;    // what it may take, where that is more than its budget
  };

  explicit RatePlan(const RateLimits& given)
      : limits(given),
        bucket(bucket_of(given)),
        leak{given.bits_per_second, given.frame_rate_num, given.frame_rate_den},
        level(bucket / 2) {}

  std::int64_t next() const { return first + static_cast<std::int64_t>(frames.size()); }
  Frame& at(std::int64_t number) { return frames[static_cast<std::size_t>(number - first)]; }
  const Frame& at(std::int64_t number) const {
    return frames[static_cast<std::size_t>(number - first)];
  }

  bool is_known(std::int64_t number) const {
    return number < first || (number < next() && at(number).bytes >= 0);
  }
  bool are_known_before(std::int64_t number) const {
    return std::all_of(frames.begin(), frames.begin() + std::max<std::int64_t>(0, number - first),
                       [](const Frame& frame) { return frame.bytes >= 0; });
  }

  /// Removes the frames whose sizes budgets may count; `level` becomes the level behind them.
  void pass_known(std::int64_t number) {
    while (first <= number - RateControl::kDelay && !frames.empty() && frames.front().bytes >= 0) {
      if (frames.front().counts)
        level = level_after(level, frames.front().bytes, frames.front().leaked);
      frames.pop_front();
      ++first;
    }
  }

  void start_bucket() {
    bucket = bucket_of(limits);
    level = bucket / 2;
    for (Frame& frame : frames) frame.counts = false;
  }

  /// The budget of the frame behind those that have one.
  void add_budget() {
    pass_known(next());
    // A frame that takes more than its budget leaves the budgets behind it free, so they do not
    // depend on when it does. Only while limits change, its larger size counts.
    const bool is_near_change = next() < changed_at + RateControl::kDelay;
    std::int64_t worst = level;
    for (const Frame& frame : frames) {
      const std::int64_t most = is_near_change ? std::max(frame.budget, frame.most) : frame.budget;
      if (frame.counts) worst = level_after(worst, most, frame.leaked);
    }
    const std::int64_t leaked = leak.next();
    std::int64_t budget = frame_budget(bucket, worst, leaked);
    budget = std::min(budget, most_of_frame());
    frames.push_back({budget, leaked});
  }

  std::int64_t most_of_frame() const {
    if (limits.max_frame_bytes == 0) return kMostRate;
    return static_cast<std::int64_t>(
        std::min(limits.max_frame_bytes, static_cast<std::size_t>(kMostRate)));
  }

  /// What a frame may take where its budget is too little. The sizes of all frames before it are
  /// known. The budgets of the kDelay - 1 frames behind it count its budget and not what it takes:
  /// what all of them may need stays free.
  std::int64_t room(std::int64_t number) const {
    const Frame& frame = at(number);
    RatePlan all = *this;
    while (all.next() < number + RateControl::kDelay) all.add_budget();
    std::int64_t free = bucket;  // the highest level before the frame behind
    for (std::int64_t i = number + RateControl::kDelay - 1; i > number; --i)
      if (const Frame& later = all.at(i); later.counts)
        free = std::min(bucket, free + later.leaked) - later.budget;
    std::int64_t before = level;
    for (std::int64_t i = first; i < number; ++i)
      if (at(i).counts) before = level_after(before, at(i).bytes, at(i).leaked);
    const std::int64_t room = std::min(bucket, free + frame.leaked) - before;
    return std::max(frame.budget, std::min(room, most_of_frame()));
  }

  RateLimits limits;
  std::int64_t bucket;
  BucketLeak leak;
  std::int64_t level;                              // before frame `first`
  std::int64_t first = 0;                          // number of frames.front()
  std::deque<Frame> frames;                        // that have a budget
  std::int64_t changed_at = -RateControl::kDelay;  // the first frame with these limits
};

}  // namespace zerorun
