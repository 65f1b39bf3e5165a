// Budgets of frames: the leaky bucket never overflows, and the rate is kept.
// SPDX-License-Identifier: MIT
#include "zerorun/async.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/random.hpp"

namespace zerorun::test {
namespace {

RateLimits limits_of(std::int64_t bits_per_second) {
  RateLimits limits;
  limits.bits_per_second = bits_per_second;
  limits.frame_rate_num = 30000;
  limits.frame_rate_den = 1001;
  return limits;
}

/// The bucket, with real numbers.
class Bucket {
 public:
  Bucket(double bytes, double leak) : bytes_(bytes), leak_(leak), level_(bytes / 2) {}
  void add(std::size_t frame) {
    level_ += static_cast<double>(frame);
    most_ = std::max(most_, level_);
    level_ = std::max(0.0, level_ - leak_);
  }
  bool has_overflown() const { return most_ > bytes_ + 1; }
  double most() const { return most_; }

 private:
  double bytes_, leak_, level_, most_ = 0;
};

/// What `take(rate, number)` gets for 300 frames is the same on one thread and on seven.
template <typename Take>
void expect_same_on_threads(const Take& take) {
  constexpr std::int64_t kFrames = 300;
  using Taken = decltype(take(std::declval<RateControl&>(), 0));
  std::map<std::int64_t, Taken> alone, together;
  auto one = RateControl::create(limits_of(2000000));
  for (std::int64_t i = 0; i < kFrames; ++i) alone[i] = take(*one, i);
  auto shared = RateControl::create(limits_of(2000000));
  std::mutex mutex;
  std::int64_t next = 0;
  std::vector<std::thread> lanes;
  for (int lane = 0; lane < 7; ++lane)
    lanes.emplace_back([&] {
      for (;;) {
        std::int64_t i;
        {
          const std::lock_guard lock(mutex);
          if (next == kFrames) return;
          i = next++;
        }
        const Taken taken = take(*shared, i);
        const std::lock_guard lock(mutex);
        together[i] = taken;
      }
    });
  for (std::thread& lane : lanes) lane.join();
  EXPECT_EQ(together, alone);
}

/// Frames whose budgets are too little take all that the bucket has, while later ones, which fill
/// their budgets, are under way.
TEST(RateControl, FramesAboveTheirBudgetsFillTheBucketAndNoMore) {
  double fullest = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    RateLimits limits = limits_of(4000000);
    limits.bucket_bytes = seed % 3 == 0 ? 0 : 60000 * (1 + seed % 5);
    limits.max_frame_bytes = seed % 4 == 0 ? 18000 : 0;
    auto rate = RateControl::create(limits);
    ASSERT_TRUE(rate);
    const auto bytes = static_cast<double>(rate->bucket_bytes());
    Bucket bucket(bytes, 500000.0 * 1001 / 30000);
    Random random(seed);
    std::vector<std::size_t> budgets;
    std::size_t most = 0;
    for (int i = 0; i < 600; ++i) {
      while (static_cast<int>(budgets.size()) <= i + random.below(RateControl::kDelay)) {
        auto budget = rate->budget(static_cast<std::int64_t>(budgets.size()));
        ASSERT_TRUE(budget);
        budgets.push_back(*budget);
        most = std::max(most, *budget);
      }
      std::size_t size = budgets[static_cast<std::size_t>(i)];
      const int kind = random.below(i / 60 % 2 == 0 ? 12 : 3);
      if (kind == 0) {
        auto room = rate->room(i);
        ASSERT_TRUE(room);
        ASSERT_GE(*room, size);
        if (limits.max_frame_bytes != 0) {
          ASSERT_LE(*room, std::max(size, limits.max_frame_bytes));
        }
        size = *room;
      } else if (kind == 1) {
        size /= 3;
      }
      rate->coded(i, size);
      bucket.add(size);
      if (seed % 2 == 1 && i % 23 == 22) {
        limits.max_frame_bytes =
            i % 2 == 0 ? 0 : 17000 + static_cast<std::size_t>(random.below(20000));
        ASSERT_TRUE(rate->set_rate(4000000, limits.max_frame_bytes));
      }
    }
    EXPECT_FALSE(bucket.has_overflown()) << seed << ": " << bucket.most() << " of " << bytes;
    EXPECT_GT(most, 17000u);  // what simple frames leave is used
    EXPECT_TRUE(seed % 4 != 0 || most <= 18000u);
    if (limits.max_frame_bytes == 0) fullest = std::max(fullest, bucket.most() / bytes);
  }
  EXPECT_GT(fullest, 0.999);
}

TEST(RateControl, TheRoomIsWhatTheBucketHasLess) {
  auto rate = RateControl::create(limits_of(8000000));  // half of 1,000,000 bytes is there
  const std::size_t budget = *rate->budget(0);
  EXPECT_NEAR(static_cast<double>(*rate->room(0)), 500000, 40);
  rate->coded(0, 400000);
  ASSERT_TRUE(rate->budget(1));
  EXPECT_NEAR(static_cast<double>(*rate->room(1)), 100000 + static_cast<double>(budget), 80);
  EXPECT_EQ(rate->room(0).status().code(), Errc::invalid_argument);
  EXPECT_EQ(rate->room(2).status().code(), Errc::invalid_argument);
  // Those that are not under way yet get less, but no frame gets nothing.
  rate->coded(1, *rate->room(1));
  for (std::int64_t i = 2; i < 80; ++i) {
    const std::size_t later = *rate->budget(i);
    EXPECT_GE(later, budget / 2 - 1) << i;
    if (i == 1 + RateControl::kDelay) {
      EXPECT_LT(later, budget * 3 / 5);
    }
    rate->coded(i, later);
  }
}

/// Also those of frames that wait for the sizes of others.
TEST(RateControl, RoomDoesNotDependOnThreads) {
  struct Taken {
    std::size_t budget, room;
    bool operator==(const Taken&) const = default;
  };
  const auto needs = [](std::int64_t i) { return i % 11 == 3 || i / 40 % 3 == 1; };
  const auto size_of = [](std::int64_t i, std::size_t most) {
    return i % 7 == 0 ? most / 3 : most - most / 500;
  };
  expect_same_on_threads([&](RateControl& rate, std::int64_t i) {
    Taken taken{*rate.budget(i), 0};
    std::this_thread::yield();
    if (needs(i)) taken.room = *rate.room(i);
    rate.coded(i, size_of(i, std::max(taken.budget, taken.room)));
    return taken;
  });
}

TEST(RateControl, RoomIsLeftByABucketThatWasGivenUp) {
  auto rate = RateControl::create(limits_of(8000000));
  ASSERT_TRUE(rate->budget(0));
  ASSERT_TRUE(rate->set_rate(4000000, 0));
  EXPECT_EQ(*rate->room(0), 250000u);
}

TEST(RateControl, AFailureEndsTheWaiting) {
  for (const bool for_room : {false, true}) {
    auto rate = RateControl::create(limits_of(2000000));
    ASSERT_TRUE(rate->budget(for_room ? 2 : 0));
    std::thread waits([&] {
      const auto late = for_room ? rate->room(2) : rate->budget(RateControl::kDelay);
      ASSERT_FALSE(late);
      EXPECT_EQ(late.status().code(), Errc::read_failed);
    });
    if (for_room) rate->coded(0, 100);
    rate->fail(1, Status(Errc::read_failed));
    waits.join();
  }
}

TEST(RateControl, FramesBeforeAFailureHaveTheirBudgets) {
  auto rate = RateControl::create(limits_of(2000000)),
       sound = RateControl::create(limits_of(2000000));
  constexpr std::int64_t kFailed = RateControl::kDelay + 3;
  rate->fail(kFailed, Status(Errc::read_failed));
  rate->fail(kFailed + 1, Status(Errc::bad_input));
  for (std::int64_t i = 0; i <= kFailed; ++i) {
    const auto budget = rate->budget(i), expected = sound->budget(i);
    ASSERT_TRUE(budget) << i;
    ASSERT_EQ(*budget, *expected) << i;
    rate->coded(i, *budget);
    sound->coded(i, *expected);
  }
  for (const std::int64_t late : {kFailed + 1, kFailed + 2, kFailed + RateControl::kDelay})
    EXPECT_EQ(rate->budget(late).status().code(), Errc::read_failed) << late;
  rate->fail(kFailed - 1, Status(Errc::bad_input));
  EXPECT_EQ(rate->budget(kFailed + 1).status().code(), Errc::bad_input);
}

TEST(RateControl, AnotherRateCountsFromTheNextFrameOn) {
  auto rate = RateControl::create(limits_of(8000000));
  const std::size_t before = *rate->budget(0);
  rate->coded(0, before);
  ASSERT_TRUE(rate->set_rate(80000000, 0));
  EXPECT_NEAR(static_cast<double>(*rate->budget(1)), 10.0 * static_cast<double>(before), 100);
  EXPECT_EQ(rate->bucket_bytes(), 10000000u);
  EXPECT_EQ(rate->set_rate(0, 0).code(), Errc::invalid_argument);
}

TEST(RateControl, SharesBeyondAllBoundsAreRefused) {
  RateLimits limits;
  limits.bits_per_second = std::int64_t{1} << 50;
  limits.frame_rate_num = 1;
  for (limits.frame_rate_den = std::int64_t{1} << 31; limits.frame_rate_den > 1 << 12;
       limits.frame_rate_den /= 2)
    EXPECT_FALSE(RateControl::create(limits)) << limits.frame_rate_den;
  limits.frame_rate_den = 1;
  EXPECT_TRUE(RateControl::create(limits));
}

TEST(RateControl, WrongLimitsAreNamed) {
  EXPECT_FALSE(RateControl::create({}));
  RateLimits limits = limits_of(8000000);
  limits.bucket_bytes = 40000;
  const auto made = RateControl::create(limits);
  ASSERT_FALSE(made);
  EXPECT_NE(made.status().message().find("does not hold two frames"), std::string::npos);
  limits = limits_of(1000);
  limits.frame_rate_num = 0;
  EXPECT_FALSE(RateControl::create(limits));
}

}  // namespace
}  // namespace zerorun::test
