// Budgets of frames by a leaky bucket, in integers, asked for by several threads.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <mutex>
#include <string>
#include <utility>

#include "codec/base/try.hpp"
#include "zerorun/async.hpp"

namespace zerorun {

/// Bytes that leak between two frames: rate * den / (8 * num), the remainder kept for later.
struct BucketLeak {
  /// Larger shares count as this one, so that sums with it fit 63 bits.
  static constexpr unsigned __int128 kMost = std::int64_t{1} << 60;

  std::int64_t rate, num, den;
  std::int64_t remainder = 0;

  std::int64_t next() {
    const auto eights = static_cast<unsigned __int128>(8) * static_cast<std::uint64_t>(num);
    const auto bits = static_cast<unsigned __int128>(rate) * static_cast<std::uint64_t>(den) +
                      static_cast<std::uint64_t>(remainder);
    remainder = static_cast<std::int64_t>(bits % eights);
    return static_cast<std::int64_t>(std::min(bits / eights, kMost));
  }
};

/// How full the bucket is after a frame of `bytes`, when `leaked` bytes have left it.
inline std::int64_t level_after(std::int64_t level, std::int64_t bytes, std::int64_t leaked) {
  return std::max<std::int64_t>(0, level + bytes - leaked);
}

/// The budget of a frame when the bucket has `level` bytes: `leaked` and an eighth of what is
/// missing to half a bucket, at least half of `leaked` and 1 byte, and at most what is free. Only
/// frames that took more than their budgets bring the bucket above half.
inline std::int64_t frame_budget(std::int64_t bucket, std::int64_t level, std::int64_t leaked) {
  const std::int64_t wanted = leaked + (bucket / 2 - level) / 8;
  const std::int64_t free = std::max<std::int64_t>(1, bucket - level);
  return std::clamp<std::int64_t>(wanted, std::clamp<std::int64_t>(leaked / 2, 1, free), free);
}

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

/// The state from which budgets follow.
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
    frames.push_back({std::min(frame_budget(bucket, worst, leaked), most_of_frame()), leaked});
  }

  std::int64_t most_of_frame() const {
    if (limits.max_frame_bytes == 0) return kMostRate;
    return static_cast<std::int64_t>(
        std::min(limits.max_frame_bytes, static_cast<std::size_t>(kMostRate)));
  }

  /// The bytes that a frame may take if its budget is too little. The sizes of all frames before it
  /// are known. The budgets of the kDelay - 1 frames behind it count its budget and not what it
  /// takes: what all of them may need stays free.
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

namespace {

constexpr std::int64_t kMostFrameRate = std::int64_t{1} << 31;

Status check(const RateLimits& limits) {
  if (limits.bits_per_second < 1 || limits.bits_per_second > kMostRate)
    return Status(Errc::invalid_argument, "a rate of " + std::to_string(limits.bits_per_second) +
                                              " bits a second is not in 1..2^50");
  if (limits.frame_rate_num < 1 || limits.frame_rate_den < 1 ||
      limits.frame_rate_num > kMostFrameRate || limits.frame_rate_den > kMostFrameRate)
    return Status(Errc::invalid_argument, "a rate needs the number of frames a second");
  const std::int64_t share = bytes_per_frame(limits);
  if (share > kMostRate / 8)
    return Status(Errc::invalid_argument, "a frame's share of the rate is more than 2^47 bytes");
  const auto least = static_cast<std::uint64_t>(2 * share);
  if (limits.bucket_bytes != 0 && limits.bucket_bytes < least)
    return Status(Errc::invalid_argument, "a bucket of " + std::to_string(limits.bucket_bytes) +
                                              " bytes does not hold two frames, which take " +
                                              std::to_string(least) + " at this rate");
  return Status::ok();
}

}  // namespace

struct RateControl::Impl {
  explicit Impl(const RateLimits& limits) : plan(limits) {}
  bool is_behind_failure(std::int64_t number) const { return number > failed; }

  std::mutex mutex;
  std::condition_variable changed;
  RatePlan plan;
  std::int64_t failed = std::numeric_limits<std::int64_t>::max();  // the first frame that did
  Status failure;
};

Result<RateControl> RateControl::create(const RateLimits& limits) {
  return guarded([&]() -> Result<RateControl> {
    ZR_TRY(check(limits));
    return RateControl(std::make_unique<Impl>(limits));
  });
}

Result<std::size_t> RateControl::budget(std::int64_t number) {
  return guarded([&]() -> Result<std::size_t> {
    std::unique_lock lock(impl_->mutex);
    RatePlan& plan = impl_->plan;
    if (number < plan.first)
      return Status(Errc::invalid_argument, "the budget of this frame was asked for before");
    while (plan.next() <= number) {
      const std::int64_t next = plan.next();
      impl_->changed.wait(lock, [&] {
        return impl_->is_behind_failure(number) || plan.is_known(next - kDelay) || next < kDelay;
      });
      if (impl_->is_behind_failure(number)) return impl_->failure;
      // Another thread may have made it meanwhile.
      if (plan.next() == next) plan.add_budget();
    }
    return static_cast<std::size_t>(plan.at(number).budget);
  });
}

Result<std::size_t> RateControl::room(std::int64_t number) {
  return guarded([&]() -> Result<std::size_t> {
    std::unique_lock lock(impl_->mutex);
    RatePlan& plan = impl_->plan;
    if (number >= plan.next() || plan.is_known(number))
      return Status(Errc::invalid_argument, "this frame has no budget yet, or it is coded");
    impl_->changed.wait(
        lock, [&] { return impl_->is_behind_failure(number) || plan.are_known_before(number); });
    if (impl_->is_behind_failure(number)) return impl_->failure;
    const std::int64_t room = plan.room(number);
    plan.at(number).most = room;
    return static_cast<std::size_t>(room);
  });
}

void RateControl::coded(std::int64_t number, std::size_t bytes) {
  {
    const std::lock_guard lock(impl_->mutex);
    RatePlan& plan = impl_->plan;
    if (number < plan.first || number >= plan.next()) return;
    std::int64_t& known = plan.at(number).bytes;
    if (known < 0) known = static_cast<std::int64_t>(bytes);
  }
  impl_->changed.notify_all();
}

void RateControl::fail(std::int64_t number, const Status& why) {
  {
    const std::lock_guard lock(impl_->mutex);
    if (number < impl_->failed) {
      impl_->failed = number;
      impl_->failure = why;
    }
  }
  impl_->changed.notify_all();
}

Status RateControl::set_rate(std::int64_t bits_per_second, std::size_t max_frame_bytes) {
  return guarded([&]() -> Status {
    const std::lock_guard lock(impl_->mutex);
    RatePlan& plan = impl_->plan;
    RateLimits limits = plan.limits;
    limits.bits_per_second = bits_per_second;
    limits.max_frame_bytes = max_frame_bytes;
    ZR_TRY(check(limits));
    const bool has_new_bucket =
        limits.bucket_bytes == 0 && bits_per_second != plan.limits.bits_per_second;
    plan.limits = limits;
    plan.leak.rate = bits_per_second;
    plan.changed_at = plan.next();
    if (has_new_bucket) plan.start_bucket();
    return Status::ok();
  });
}

std::size_t RateControl::bucket_bytes() const noexcept {
  const std::lock_guard lock(impl_->mutex);
  return static_cast<std::size_t>(impl_->plan.bucket);
}

RateControl::RateControl(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
RateControl::RateControl(RateControl&&) noexcept = default;
RateControl& RateControl::operator=(RateControl&&) noexcept = default;
RateControl::~RateControl() = default;

}  // namespace zerorun
