// The union of spans, against a count of the milliseconds that any span covers.
// SPDX-License-Identifier: MIT
#include "apps/common/step_meter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace zerorun::app {
namespace {

BusyTime::Time at(int milliseconds) {
  return BusyTime::Time(std::chrono::milliseconds(milliseconds));
}

TEST(BusyTime, overlaps_count_once_and_gaps_not_at_all) {
  BusyTime busy;
  EXPECT_EQ(busy.seconds(), 0.0);
  busy.add(at(10), at(20));
  busy.add(at(40), at(50));
  EXPECT_DOUBLE_EQ(busy.seconds(), 0.020);
  busy.add(at(20), at(22));  // touches the first
  busy.add(at(12), at(18));  // within it
  busy.add(at(30), at(30));  // empty
  busy.add(at(33), at(31));  // nonsense
  EXPECT_DOUBLE_EQ(busy.seconds(), 0.022);
  busy.add(at(5), at(45));  // over both
  EXPECT_DOUBLE_EQ(busy.seconds(), 0.045);
}

TEST(BusyTime, long_runs_of_spans_nearly_in_order_are_exact) {
  std::mt19937 random(1);
  const auto below = [&](unsigned bound) { return static_cast<int>(random() % bound); };
  BusyTime busy;
  std::set<int> covered;
  for (int i = 0; i < 20000; ++i) {
    const int begin = std::max(0, 6 * i - below(300)), end = begin + below(9);
    busy.add(at(begin), at(end));
    for (int t = begin; t < end; ++t) covered.insert(t);
  }
  EXPECT_NEAR(busy.seconds(), static_cast<double>(covered.size()) * 1e-3, 1e-9);
}

TEST(BusyTime, a_span_that_comes_far_too_late_counts_nowhere_twice) {
  BusyTime busy;
  for (int i = 0; i < 1000; ++i) busy.add(at(10 * i), at(10 * i + 5));
  EXPECT_DOUBLE_EQ(busy.seconds(), 5.0);
  busy.add(at(0), at(5));
  EXPECT_DOUBLE_EQ(busy.seconds(), 5.0);
  busy.add(at(0), at(9995));
  EXPECT_LE(busy.seconds(), 9.995);
}

}  // namespace
}  // namespace zerorun::app
