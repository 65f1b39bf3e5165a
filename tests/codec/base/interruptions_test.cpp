// A call that EINTR ends is made again, but not for ever.
// SPDX-License-Identifier: MIT
#include "codec/base/interruptions.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace zerorun {
namespace {

TEST(Interruptions, StormEnds) {
  Interruptions interruptions;
  int calls = 0;
  for (errno = EINTR; interruptions.again(); errno = EINTR) ++calls;
  EXPECT_GE(calls, 99);
  EXPECT_EQ(errno, EINTR);
}

TEST(Interruptions, SignalsOfATimerDoNotCount) {
  Interruptions interruptions;
  for (int i = 0; i < 150; ++i) {
    errno = EINTR;
    ASSERT_TRUE(interruptions.again()) << i;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

TEST(Interruptions, OtherErrorsEnd) {
  Interruptions interruptions;
  errno = EIO;
  EXPECT_FALSE(interruptions.again());
}

}  // namespace
}  // namespace zerorun
