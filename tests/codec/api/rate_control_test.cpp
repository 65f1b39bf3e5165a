// Budgets of frames: the leaky bucket never overflows, and the rate is kept.
// SPDX-License-Identifier: MIT
#include "zerorun/rate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <thread>
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

 private:
  double bytes_, leak_, level_, most_ = 0;
};

TEST(RateControl, FramesThatFillTheirBudgetsKeepTheRate) {
  auto rate = RateControl::create(limits_of(8000000));
  ASSERT_TRUE(rate);
  Bucket bucket(1000000, 8000000.0 / 8 * 1001 / 30000);
  double sum = 0;
  constexpr int kFrames = 1800;
  for (int i = 0; i < kFrames; ++i) {
    auto budget = rate->budget(i);
    ASSERT_TRUE(budget);
    const std::size_t bytes = *budget - *budget / 400;  // as the encoder comes near it
    rate->coded(i, bytes);
    bucket.add(bytes);
    sum += static_cast<double>(bytes);
  }
  EXPECT_FALSE(bucket.has_overflown());
  EXPECT_NEAR(sum / (1000000.0 * 1001 / 30000 * kFrames), 1.0, 0.01);
}

TEST(RateControl, NoSizesOverflowTheBucket) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    RateLimits limits = limits_of(4000000);
    limits.bucket_bytes = 60000;
    limits.max_frame_bytes = seed % 2 == 0 ? 0 : 20000;
    auto rate = RateControl::create(limits);
    ASSERT_TRUE(rate);
    Bucket bucket(60000, 500000.0 * 1001 / 30000);
    Random random(seed);
    std::size_t most = 0;
    for (int i = 0; i < 500; ++i) {
      auto budget = rate->budget(i);
      ASSERT_TRUE(budget);
      // Long runs of frames that cannot fill their budgets.
      const std::size_t bytes =
          i / 40 % 2 == 0
              ? *budget
              : static_cast<std::size_t>(random.below(static_cast<int>(1 + *budget / 8)));
      rate->coded(i, bytes);
      bucket.add(bytes);
      most = std::max(most, *budget);
    }
    EXPECT_FALSE(bucket.has_overflown()) << seed;
    EXPECT_LE(most, seed % 2 == 0 ? 60000u : 20000u);
    EXPECT_GT(most, 17000u);  // what simple frames leave is used
  }
}

/// What threads in any order get is what one thread gets.
TEST(RateControl, BudgetsDoNotDependOnThreads) {
  const auto size_of = [](std::int64_t i, std::size_t budget) {
    return i % 7 == 0 ? budget / 9 : budget - budget / 500;
  };
  std::map<std::int64_t, std::size_t> alone;
  auto one = RateControl::create(limits_of(2000000));
  for (std::int64_t i = 0; i < 300; ++i) {
    alone[i] = *one->budget(i);
    one->coded(i, size_of(i, alone[i]));
  }
  auto shared = RateControl::create(limits_of(2000000));
  std::map<std::int64_t, std::size_t> together;
  std::mutex mutex;
  std::int64_t next = 0;
  std::vector<std::thread> lanes;
  for (int lane = 0; lane < 7; ++lane)
    lanes.emplace_back([&] {
      for (;;) {
        std::int64_t i;
        {
          const std::lock_guard lock(mutex);
          if (next == 300) return;
          i = next++;
        }
        const std::size_t budget = *shared->budget(i);
        std::this_thread::yield();
        shared->coded(i, size_of(i, budget));
        const std::lock_guard lock(mutex);
        together[i] = budget;
      }
    });
  for (std::thread& lane : lanes) lane.join();
  EXPECT_EQ(together, alone);
}

TEST(RateControl, AFailureEndsTheWaiting) {
  auto rate = RateControl::create(limits_of(2000000));
  ASSERT_TRUE(rate->budget(0));
  std::thread waits([&] {
    const auto late = rate->budget(RateControl::kDelay);
    ASSERT_FALSE(late);
    EXPECT_EQ(late.status().code(), Errc::read_failed);
  });
  rate->fail(1, Status(Errc::read_failed));
  waits.join();
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
