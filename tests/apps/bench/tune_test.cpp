// The search for the best sizes, with times that a test gives.
// SPDX-License-Identifier: MIT
#include "apps/bench/tune/tune.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>

namespace zerorun::app::bench {
namespace {

/// A GPU whose time depends on the sizes in a way that the test knows.
struct FakeGpu {
  double clock = 0;
  double seconds_of_measure = 0.1;
  int measured = 0;
  std::map<std::pair<Tunable, std::int64_t>, double> times;
  std::vector<std::string> prepared;

  TuneBench bench(std::vector<TuneStep> steps) {
    TuneBench made;
    made.steps = std::move(steps);
    made.prepare = [this](Tunable tunable) -> Result<std::string> {
      prepared.emplace_back(range_of(tunable).name);
      return std::string("frames");
    };
    made.measure = [this](Tunable tunable, const TuningPolicy& policy) -> Result<double> {
      clock += seconds_of_measure;
      ++measured;
      const auto found = times.find({tunable, *policy.find(tunable)});
      if (found == times.end()) return Status(Errc::out_of_memory, "no room");
      // Some measurements are disturbed, of each candidate a few.
      return found->second * (measured % 7 == 3 ? 4 : 1);
    };
    made.seconds = [this] { return clock; };
    return made;
  }
};

constexpr auto kLanes = Tunable::lanes, kRoom = Tunable::room_words;

TEST(Tune, TakesTheFastest) {
  FakeGpu gpu;
  gpu.times = {{{kLanes, 4}, 100},
               {{kLanes, 6}, 80},
               {{kLanes, 8}, 90},
               {{kRoom, 10240}, 50},
               {{kRoom, 5120}, 70}};
  const TuneResult result = tune(gpu.bench({{kLanes, {4, 6, 8}}, {kRoom, {10240, 5120}}}));
  ASSERT_EQ(result.sizes.size(), 2u);
  EXPECT_EQ(result.sizes[0].chosen, 6);
  EXPECT_EQ(result.policy.find(kLanes), 6);
  EXPECT_EQ(result.sizes[1].chosen, 10240);
  EXPECT_EQ(result.policy.find(kRoom), std::nullopt) << "what is built in is not written down";
  EXPECT_EQ(result.sizes[0].candidates.size(), 3u);
  EXPECT_NEAR(result.sizes[0].candidates[1].microseconds, 80, 1e-9);
}

TEST(Tune, KeepsWhatIsBuiltInUnlessAnotherIsClearlyFaster) {
  FakeGpu gpu;
  gpu.times = {{{kLanes, 4}, 100}, {{kLanes, 6}, 98.5}};
  EXPECT_EQ(tune(gpu.bench({{kLanes, {4, 6}}})).policy, TuningPolicy{});
  gpu.times[{kLanes, 6}] = 97;
  EXPECT_EQ(tune(gpu.bench({{kLanes, {4, 6}}})).policy.find(kLanes), 6);
}

TEST(Tune, MeasuresASizeWithThoseChosenBefore) {
  FakeGpu gpu;
  gpu.times = {{{kLanes, 4}, 100}, {{kLanes, 6}, 50}, {{kRoom, 10240}, 1}};
  TuneBench bench = gpu.bench({{kLanes, {4, 6}}, {kRoom, {10240}}});
  bench.measure = [inner = bench.measure](Tunable tunable, const TuningPolicy& policy) {
    if (tunable == kRoom) {
      EXPECT_EQ(policy.find(kLanes), 6);
    }
    return inner(tunable, policy);
  };
  tune(bench);
}

TEST(Tune, LeavesOutWhatDoesNotWork) {
  FakeGpu gpu;
  gpu.times = {{{kLanes, 4}, 100}, {{kLanes, 8}, 70}};
  const TuneResult result = tune(gpu.bench({{kLanes, {4, 6, 8}}, {kRoom, {10240, 5120}}}));
  EXPECT_EQ(result.sizes[0].chosen, 8);
  EXPECT_EQ(result.sizes[0].candidates.size(), 2u);
  EXPECT_NE(result.sizes[1].reason.find("no room"), std::string::npos);
  EXPECT_EQ(result.policy.find(kRoom), std::nullopt);
  EXPECT_NE(tune_text("GPU, 1.0", result).find("not measured"), std::string::npos);
}

TEST(Tune, StaysUnderAMinute) {
  FakeGpu gpu;
  gpu.seconds_of_measure = 3;
  gpu.times = {{{kLanes, 4}, 100}, {{kLanes, 6}, 50}, {{kRoom, 10240}, 1}};
  const TuneResult result = tune(
      gpu.bench({{kLanes, {4, 6}}, {kLanes, {4, 6}}, {kLanes, {4, 6}}, {kRoom, {10240, 5120}}}));
  EXPECT_LT(result.seconds, 60);
  EXPECT_EQ(result.sizes[0].chosen, 6);
  EXPECT_NE(result.sizes[3].reason.find("no time"), std::string::npos);
  EXPECT_EQ(gpu.prepared.size(), 2u);
}

TEST(Tune, PrintsWhatIsKept) {
  FakeGpu gpu;
  gpu.times = {{{kLanes, 4}, 100}, {{kLanes, 6}, 80}};
  const TuneResult result = tune(gpu.bench({{kLanes, {4, 6}}}));
  const std::string text = tune_text("GPU, 1.0", result);
  EXPECT_NE(text.find("*6: 80.00"), std::string::npos) << text;
  EXPECT_NE(text.find(policy_text("GPU, 1.0", result.policy)), std::string::npos);
}

}  // namespace
}  // namespace zerorun::app::bench
