// The flag at a stream's end is set when all work before it is done, and a failure ends the wait.
// SPDX-License-Identifier: MIT
#include "cuda/base/end_flag.hpp"

#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <span>
#include <thread>

#include "tests/cuda/test_kernels.hpp"
#include "tests/support/gpu.hpp"

namespace zerorun::test {
namespace {

constexpr std::uint32_t kLateWords = 64 * 256;

class EndFlagParity : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    ASSERT_TRUE(stream_.create());
    ASSERT_TRUE(end_.create());
  }

  Stream stream_;
  EndFlag end_;
};

TEST_F(EndFlagParity, WaitsForEverythingBefore) {
  constexpr std::int64_t kBytes = 1 << 24;
  DeviceBuffer<std::uint8_t> on_device;
  PinnedBuffer<std::uint8_t> last;
  ASSERT_TRUE(on_device.reserve(kBytes));
  ASSERT_TRUE(last.reserve(1));
  std::atomic<int> called = 0;
  // Once so late that the thread looks no longer.
  const auto late = [](void* of_test) {
    auto& calls = *static_cast<std::atomic<int>*>(of_test);
    std::this_thread::sleep_for(std::chrono::microseconds(calls == 50 ? 50'000 : 300));
    ++calls;
  };
  for (int turn = 1; turn <= 200; ++turn) {
    // A copy, a kernel and a call on the host end last in turn.
    const bool copies = turn % 3 != 0, calls = turn % 3 != 1, sets = turn % 3 == 2;
    cudaError_t error = cudaSuccess;
    if (copies) {
      error = cudaMemsetAsync(on_device.data(), turn, kBytes, stream_.get());
      ASSERT_EQ(error, cudaSuccess);
      error = cudaMemcpyAsync(last.data(), on_device.data() + kBytes - 1, 1, cudaMemcpyDeviceToHost,
                              stream_.get());
      ASSERT_EQ(error, cudaSuccess);
    }
    if (calls) error = cudaLaunchHostFunc(stream_.get(), late, &called);
    ASSERT_EQ(error, cudaSuccess);
    if (sets) error = cudaMemsetAsync(on_device.data(), 0, kBytes, stream_.get());
    ASSERT_EQ(error, cudaSuccess);
    ASSERT_TRUE(end_.wait(stream_.get()));
    EXPECT_EQ(called, turn / 3 + (turn + 1) / 3);
    EXPECT_EQ(*last.data(), copies ? turn : turn - 1);
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  }
}

/// All words of a kernel are written when the flag is, although the kernel of the flag began early.
TEST_F(EndFlagParity, LateWordsComeBeforeTheFlag) {
  PinnedBuffer<std::uint32_t> words;
  ASSERT_TRUE(words.reserve(kLateWords));
  const std::span<const std::uint32_t> written(words.data(), kLateWords);
  for (std::uint32_t turn = 1; turn <= 2000; ++turn) {
    ASSERT_EQ(write_late(words.data(), kLateWords, turn, turn % 32 * 1000, stream_.get()),
              cudaSuccess);
    ASSERT_TRUE(end_.wait(stream_.get()));
    ASSERT_EQ(std::ranges::count(written, turn), kLateWords) << "turn " << turn;
  }
}

std::chrono::nanoseconds time_of_thread() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

/// A waiting thread sleeps where the application asked CUDA for that.
TEST_F(EndFlagParity, SleepsIfTheApplicationWantsThat) {
  ASSERT_EQ(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync), cudaSuccess);
  Stream stream;
  EndFlag end;
  PinnedBuffer<std::uint32_t> words;
  const bool ready = stream.create().is_ok() && end.create().is_ok() && words.reserve(kLateWords);
  std::chrono::nanoseconds busy{};
  std::uint32_t turn = 0, right = 0;
  for (; ready && turn < 50; ++turn) {
    if (write_late(words.data(), kLateWords, turn + 1, 1'000'000, stream.get()) != cudaSuccess)
      break;
    const auto begin = time_of_thread();
    if (!end.wait(stream.get())) break;
    busy += time_of_thread() - begin;
    const std::span<const std::uint32_t> written(words.data(), kLateWords);
    right += std::ranges::count(written, turn + 1) == kLateWords ? 1 : 0;
  }
  ASSERT_EQ(cudaSetDeviceFlags(cudaDeviceScheduleAuto), cudaSuccess);
  ASSERT_TRUE(ready);
  EXPECT_EQ(turn, 50u);
  EXPECT_EQ(right, turn);
  // The kernels took 50 ms.
  EXPECT_LT(busy, std::chrono::milliseconds(25));
}

TEST_F(EndFlagParity, AFailureEndsTheWait) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto wait_in_vain = [this] {
    if (!break_device(0)) std::exit(3);
    std::exit(end_.wait(stream_.get()) ? 2 : 0);
  };
  EXPECT_EXIT(wait_in_vain(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace zerorun::test
