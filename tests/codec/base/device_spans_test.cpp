// Where stretches of a device's time lie on the host's clock, and which thread gets them.
// SPDX-License-Identifier: MIT
#include "codec/base/step_times.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace zerorun::test {
namespace {

DeviceSpan::Time at(int microseconds) {
  return DeviceSpan::Time(std::chrono::microseconds(microseconds));
}

const std::vector<DeviceStretch> kFrame = {{DeviceStep::upload, 100.0},
                                           {DeviceStep::kernels, 20.5},
                                           {std::nullopt, 1000.0},
                                           {DeviceStep::download, 30.0}};

TEST(DeviceSpans, stretches_follow_each_other_and_gaps_are_left_out) {
  std::vector<DeviceSpan> spans;
  place_spans(at(5000), at(9000), kFrame, 3, spans);
  ASSERT_EQ(spans.size(), 3U);
  EXPECT_EQ(spans[0].step, DeviceStep::upload);
  EXPECT_EQ(spans[0].begin, at(5000));
  EXPECT_EQ(spans[0].end, at(5100));
  EXPECT_EQ(spans[1].step, DeviceStep::kernels);
  EXPECT_EQ(spans[1].begin, at(5100));
  EXPECT_EQ(spans[1].end, at(5120) + std::chrono::nanoseconds(500));
  EXPECT_EQ(spans[2].step, DeviceStep::download);
  EXPECT_EQ(spans[2].begin, at(6120) + std::chrono::nanoseconds(500));
  EXPECT_EQ(spans[2].end, at(6150) + std::chrono::nanoseconds(500));
  for (const DeviceSpan& span : spans) EXPECT_EQ(span.device, 3);
}

TEST(DeviceSpans, nothing_ends_later_than_now) {
  std::vector<DeviceSpan> spans;
  place_spans(at(5000), at(6000), kFrame, 0, spans);
  ASSERT_EQ(spans.size(), 3U);
  EXPECT_EQ(spans[2].end, at(6000));
  EXPECT_EQ(spans[2].begin, at(5970));
}

TEST(DeviceSpans, the_last_one_of_the_thread_counts) {
  EXPECT_EQ(DeviceSpans::current(), nullptr);
  DeviceSpans outer;
  {
    const DeviceSpans inner;
    EXPECT_EQ(DeviceSpans::current(), &inner);
    std::thread([] { EXPECT_EQ(DeviceSpans::current(), nullptr); }).join();
  }
  EXPECT_EQ(DeviceSpans::current(), &outer);
}

}  // namespace
}  // namespace zerorun::test
