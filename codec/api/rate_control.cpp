// Budgets of frames, asked for by several threads.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <condition_variable>
#include <deque>
#include <limits>
#include <mutex>
#include <string>
#include <utility>

#include "codec/arith/leaky_bucket.hpp"
#include "codec/base/try.hpp"
#include "zerorun/rate.hpp"

namespace zerorun {
namespace {

constexpr std::int64_t kMostRate = std::int64_t{1} << 50;  // such that sums fit 63 bits
constexpr std::int64_t kMostFrameRate = std::int64_t{1} << 31;

Status check_rate(std::int64_t bits_per_second) {
  if (bits_per_second >= 1 && bits_per_second <= kMostRate) return Status::ok();
  return Status(Errc::invalid_argument, "a rate of " + std::to_string(bits_per_second) +
                                            " bits a second is not in 1..2^50");
}

std::int64_t bytes_per_frame(const RateLimits& limits) {
  return BucketLeak{limits.bits_per_second, limits.frame_rate_num, limits.frame_rate_den}.next();
}

Status check(const RateLimits& limits) {
  ZR_TRY(check_rate(limits.bits_per_second));
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

std::int64_t bucket_of(const RateLimits& limits) {
  if (limits.bucket_bytes != 0)
    return static_cast<std::int64_t>(
        std::min(limits.bucket_bytes, static_cast<std::size_t>(kMostRate)));
  return std::max({std::int64_t{2}, limits.bits_per_second / 8, 4 * bytes_per_frame(limits)});
}

}  // namespace

struct RateControl::Impl {
  struct Frame {
    std::int64_t budget, leaked;
    std::int64_t bytes = -1;  // not yet known
    bool counts = true;       // not in a bucket that was given up
  };

  explicit Impl(const RateLimits& given)
      : limits(given),
        bucket(bucket_of(given)),
        leak{given.bits_per_second, given.frame_rate_num, given.frame_rate_den},
        level(bucket / 2) {}

  bool is_known(std::int64_t number) const {
    return number < first || (number - first < static_cast<std::int64_t>(frames.size()) &&
                              frames[static_cast<std::size_t>(number - first)].bytes >= 0);
  }

  bool is_behind_failure(std::int64_t number) const { return number > failed; }

  /// Frames that budgets may count with their sizes: `level` is that behind them.
  void pass_known(std::int64_t next) {
    while (first <= next - kDelay && !frames.empty() && frames.front().bytes >= 0) {
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
    const std::int64_t next = first + static_cast<std::int64_t>(frames.size());
    pass_known(next);
    std::int64_t worst = level;
    for (const Frame& frame : frames)
      if (frame.counts) worst = level_after(worst, frame.budget, frame.leaked);
    const std::int64_t leaked = leak.next();
    std::int64_t budget = frame_budget(bucket, worst, leaked);
    if (limits.max_frame_bytes != 0)
      budget = std::min(budget, static_cast<std::int64_t>(std::min(
                                    limits.max_frame_bytes, static_cast<std::size_t>(kMostRate))));
    frames.push_back({budget, leaked});
  }

  std::mutex mutex;
  std::condition_variable changed;
  RateLimits limits;
  std::int64_t bucket;
  BucketLeak leak;
  std::int64_t level;                                              // before frame `first`
  std::int64_t first = 0;                                          // number of frames.front()
  std::deque<Frame> frames;                                        // that have a budget
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
    if (number < impl_->first)
      return Status(Errc::invalid_argument, "the budget of this frame was asked for before");
    while (impl_->first + static_cast<std::int64_t>(impl_->frames.size()) <= number) {
      const std::int64_t next = impl_->first + static_cast<std::int64_t>(impl_->frames.size());
      impl_->changed.wait(lock, [&] {
        return impl_->is_behind_failure(number) || impl_->is_known(next - kDelay) || next < kDelay;
      });
      if (impl_->is_behind_failure(number)) return impl_->failure;
      // Another thread may have made it meanwhile.
      if (impl_->first + static_cast<std::int64_t>(impl_->frames.size()) == next)
        impl_->add_budget();
    }
    return static_cast<std::size_t>(
        impl_->frames[static_cast<std::size_t>(number - impl_->first)].budget);
  });
}

void RateControl::coded(std::int64_t number, std::size_t bytes) {
  {
    const std::lock_guard lock(impl_->mutex);
    const std::int64_t place = number - impl_->first;
    if (place < 0 || place >= static_cast<std::int64_t>(impl_->frames.size())) return;
    std::int64_t& known = impl_->frames[static_cast<std::size_t>(place)].bytes;
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
    RateLimits limits = impl_->limits;
    limits.bits_per_second = bits_per_second;
    limits.max_frame_bytes = max_frame_bytes;
    ZR_TRY(check(limits));
    const bool has_new_bucket =
        limits.bucket_bytes == 0 && bits_per_second != impl_->limits.bits_per_second;
    impl_->limits = limits;
    impl_->leak.rate = bits_per_second;
    if (has_new_bucket) impl_->start_bucket();
    return Status::ok();
  });
}

std::size_t RateControl::bucket_bytes() const noexcept {
  const std::lock_guard lock(impl_->mutex);
  return static_cast<std::size_t>(impl_->bucket);
}

RateControl::RateControl(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
RateControl::RateControl(RateControl&&) noexcept = default;
RateControl& RateControl::operator=(RateControl&&) noexcept = default;
RateControl::~RateControl() = default;

}  // namespace zerorun
