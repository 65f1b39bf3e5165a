// Budgets of frames, asked for by several threads.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <string>
#include <utility>

#include "codec/api/rate_plan.hpp"
#include "codec/base/try.hpp"
#include "zerorun/async.hpp"

namespace zerorun {
namespace {

constexpr std::int64_t kMostFrameRate = std::int64_t{1} << 31;

Status check_rate(std::int64_t bits_per_second) {
  if (bits_per_second >= 1 && bits_per_second <= kMostRate) return Status::ok();
  return Status(Errc::invalid_argument, "a rate of " + std::to_string(bits_per_second) +
                                            " bits a second is not in 1..2^50");
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
