// What is played when: the queue between the reader of the sound and the device, without either.
// SPDX-License-Identifier: MIT
#include "apps/play/sound_queue.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace zerorun::app {
namespace {

constexpr int kRate = 1000;  // a frame is a millisecond

/// Mono; the value of a sample is its time in milliseconds.
class SoundQueueTest : public testing::Test {
 protected:
  /// The reader, which always has sound.
  void read() {
    if (const auto order = queue_.take_order()) {
      next_ = order->from * 1000;
      step_ = order->speed;
    }
    while (!queue_.is_full()) {
      std::vector<float> samples(100);
      for (float& sample : samples)
        sample = static_cast<float>(std::exchange(next_, next_ + step_));
      queue_.add(samples);
    }
  }
  std::vector<float> play(double now, double speed = 1, bool is_running = true) {
    std::vector<float> out(10, -1.0F);
    ahead_ = queue_.fill(out, {now, speed, is_running});
    return out;
  }
  /// Plays until there is sound; how many milliseconds the first sample is off.
  double play_sound(double now, double speed = 1) {
    play(now, speed);
    read();
    return static_cast<double>(play(now, speed)[0]) - now * 1000;
  }
  bool is_silent(const std::vector<float>& out) {
    return out == std::vector<float>(out.size(), 0.0F) && !ahead_;
  }

  SoundQueue queue_{kRate, 1};
  double next_ = 0, step_ = 1;
  std::optional<double> ahead_;
};

TEST_F(SoundQueueTest, BeginsWhereTheClockIs) {
  EXPECT_TRUE(queue_.is_full()) << "nothing is read before the clock runs";
  EXPECT_TRUE(is_silent(play(5.0)));
  EXPECT_FALSE(queue_.is_full());
  read();
  EXPECT_EQ(play(5.0),
            (std::vector<float>{5000, 5001, 5002, 5003, 5004, 5005, 5006, 5007, 5008, 5009}));
  EXPECT_NEAR(*ahead_, 0, 1e-9);
}

TEST_F(SoundQueueTest, TellsHowFarTheClockIsOff) {
  play_sound(1.0);
  EXPECT_EQ(play(1.05)[0], 1010) << "small steps are left to the clock";
  EXPECT_NEAR(*ahead_, 1.010 - 1.05, 1e-9);
  EXPECT_EQ(play(0.99)[0], 1020);
  EXPECT_NEAR(*ahead_, 1.020 - 0.99, 1e-9);
}

TEST_F(SoundQueueTest, FollowsSeeks) {
  play_sound(1.0);
  EXPECT_EQ(play(1.3)[0], 1300) << "sound that is read already is skipped";
  EXPECT_NEAR(play_sound(9.0), 0, 1e-6);
  EXPECT_NEAR(play_sound(2.0), 0, 1e-6);
}

TEST_F(SoundQueueTest, ASeekDuringASeekCounts) {
  play(1.0);
  play(7.0);  // the reader has not begun
  read();
  EXPECT_EQ(play(7.0)[0], 7000);
}

TEST_F(SoundQueueTest, SamplesOfBeforeASeekAreNotTaken) {
  play_sound(1.0);
  play(9.0);
  const float old = 1;
  EXPECT_FALSE(queue_.add({&old, 1}));
}

TEST_F(SoundQueueTest, APauseKeepsThePlace) {
  play_sound(1.0);
  EXPECT_TRUE(is_silent(play(1.01, 1, false)));
  EXPECT_EQ(play(1.01)[0], 1010);
}

TEST_F(SoundQueueTest, AnotherSpeedIsReadAgain) {
  play_sound(1.0);
  EXPECT_TRUE(is_silent(play(1.01, 2)));
  read();
  const auto out = play(1.01, 2);
  EXPECT_EQ(out[0], 1010);
  EXPECT_EQ(out[9], 1028);
  EXPECT_EQ(play(1.03, 2)[0], 1030);
  EXPECT_NEAR(*ahead_, 0, 1e-6);
  EXPECT_TRUE(is_silent(play(1.05, 8))) << "nobody understands that";
}

TEST_F(SoundQueueTest, SilenceBehindTheEndAndNoMoreOrders) {
  play(1.0);
  (void)queue_.take_order();
  const std::vector<float> last(15, 0.5F);
  queue_.add(last);
  queue_.set_ended();
  EXPECT_EQ(play(1.0)[9], 0.5F);
  EXPECT_EQ(play(1.01)[4], 0.5F);
  EXPECT_TRUE(is_silent(play(1.02)));
  EXPECT_TRUE(is_silent(play(30.0)));
  EXPECT_TRUE(queue_.is_full()) << "there is nothing to read";
  play(0.5);
  EXPECT_FALSE(queue_.is_full()) << "before the end there is";
}

}  // namespace
}  // namespace zerorun::app
