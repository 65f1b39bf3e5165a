// The arithmetic of the step meter with injected times, and the union of spans.
// SPDX-License-Identifier: MIT
#include "apps/common/step_meter.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <set>
#include <thread>
#include <utility>

namespace zerorun::app {
namespace {

using testing::HasSubstr;

const StepUse& use_of(const StepReport& report, Step step) {
  for (const StepUse& use : report.steps)
    if (use.step == step) return use;
  ADD_FAILURE() << facts_of(step).name << " is missing";
  static const StepUse none;
  return none;
}

void add_seconds(StepMeter& meter, Step step, double busy) {
  meter.add(step, std::chrono::nanoseconds(std::llround(busy * 1e9)));
}

TEST(StepMeter, a_step_of_many_lanes_is_the_wall) {
  StepMeter meter;
  meter.set_threads(StepPool::lanes, 16);
  add_seconds(meter, Step::read, 1.0);
  add_seconds(meter, Step::decode_input, 150.0);
  add_seconds(meter, Step::code, 8.0);
  add_seconds(meter, Step::write, 0.5);
  StepWords words;
  words.input = "PNG files";
  const StepReport report = meter.report(10.0, 240, words);
  EXPECT_EQ(report.wall, Step::decode_input);
  EXPECT_EQ(report.sentence,
            "Decoding the PNG files was the slowest step: it kept 15.0 of 16 threads busy.");
  EXPECT_DOUBLE_EQ(use_of(report, Step::read).percent, 10.0);
  EXPECT_DOUBLE_EQ(use_of(report, Step::decode_input).percent, 93.75);
  EXPECT_DOUBLE_EQ(use_of(report, Step::code).percent, 5.0);
  EXPECT_DOUBLE_EQ(use_of(report, Step::code).pool_percent, 98.75);
  EXPECT_EQ(report.text(), "read 10 %, decode_input 94 %, code 5 %, write 5 %");
}

TEST(StepMeter, steps_that_share_threads_count_together) {
  // The reader is busier than each step of the lanes, but the lanes have no time left.
  StepMeter meter;
  meter.set_threads(StepPool::lanes, 2);
  add_seconds(meter, Step::read, 6.0);
  add_seconds(meter, Step::decode_input, 11.0);
  add_seconds(meter, Step::code, 9.0);
  const StepReport report = meter.report(10.0, 1, {});
  EXPECT_EQ(report.wall, Step::decode_input);
  EXPECT_DOUBLE_EQ(use_of(report, Step::decode_input).pool_percent, 100.0);
}

TEST(StepMeter, the_sentence_says_how_busy_the_slowest_step_was) {
  const struct {
    int lanes;
    double seconds;
    std::vector<std::pair<Step, double>> steps;
    std::string sentence, reading = {};
  } cases[] = {
      {4,
       4,
       {{Step::read, 3.9}, {Step::code, 0.4}},
       "Reading the input was the slowest step: it delivered 25.0 frames/s."},
      {4,
       4,
       {{Step::read, 3.9}, {Step::code, 0.4}, {Step::write, 3.95}},
       "Writing the output was the slowest step: it took 25.0 frames/s."},
      {1,
       1,
       {{Step::code, 0.9}},
       "Coding the frames was the slowest step: it was busy 90 % of the time."},
      {1,
       1,
       {{Step::code, 0.9}, {Step::kernels, 0.95}},
       "Running the kernels of the GPU was the slowest step: it was busy 95 % of the time."},
      {4,
       1,
       {{Step::load, 3.0}, {Step::store, 0.8}},
       "Reading the input was the slowest step: it kept 3.0 of 4 threads busy."},
      {4,
       2,
       {{Step::load, 3.0}, {Step::store, 3.2}},
       "Writing the output was the slowest step: it kept 1.6 of 4 threads busy."},
      {1,
       1,
       {{Step::convert, 0.9}, {Step::code, 0.1}},
       "Converting the samples was the slowest step: it was busy 90 % of the time."},
      {1,
       4,
       {{Step::read, 3.9}},
       "Reading and decoding the h264 video was the slowest step: it delivered 25.0 frames/s.",
       "Reading and decoding the h264 video"},
      {1, 1, {}, ""}};
  for (const auto& [lanes, seconds, steps, sentence, reading] : cases) {
    StepMeter meter;
    meter.set_threads(StepPool::lanes, lanes);
    for (const auto& [step, busy] : steps) add_seconds(meter, step, busy);
    StepWords words;
    if (!reading.empty()) words.reading = reading;
    const StepReport report = meter.report(seconds, 100, words);
    EXPECT_EQ(report.sentence, sentence);
    EXPECT_EQ(report.wall.has_value(), !steps.empty());
  }
}

/// What the clocks below take for the time of conversions.
std::chrono::nanoseconds g_converted;
std::chrono::nanoseconds take_converted() { return std::exchange(g_converted, {}); }

void be_busy(std::chrono::milliseconds time) {
  const auto end = StepMeter::Clock::now() + time;
  while (StepMeter::Clock::now() < end) {
  }
}

TEST(StepClock, what_is_converted_is_a_step_of_its_own) {
  StepMeter meter;
  meter.set_threads(StepPool::lanes, 2);
  g_converted = std::chrono::hours(1);  // of before: it counts nowhere
  {
    StepClock clock(&meter, take_converted);
    clock.begin(Step::load);
    be_busy(std::chrono::milliseconds(30));
    g_converted = std::chrono::milliseconds(20);
  }
  const StepReport report = meter.report(0.02, 1, {});
  EXPECT_DOUBLE_EQ(use_of(report, Step::convert).busy_seconds, 0.02);
  EXPECT_GE(use_of(report, Step::load).busy_seconds, 0.01);
  EXPECT_EQ(use_of(report, Step::convert).threads, 2);
  EXPECT_GE(use_of(report, Step::convert).pool_percent, 75.0);
}

TEST(StepClock, no_more_is_converted_than_was_done) {
  StepMeter meter;
  {
    StepClock clock(&meter, take_converted);
    clock.begin(Step::load);
    g_converted = std::chrono::hours(1);
  }
  EXPECT_LT(use_of(meter.report(1.0, 1, {}), Step::convert).busy_seconds, 60.0);
}

TEST(StepClock, what_the_reader_and_the_writer_convert_is_theirs) {
  for (const Step step : {Step::read, Step::write}) {
    StepMeter meter;
    {
      StepClock clock(&meter, take_converted);
      clock.begin(step);
      g_converted = std::chrono::milliseconds(1);
      be_busy(std::chrono::milliseconds(2));
    }
    const StepReport report = meter.report(1.0, 1, {});
    EXPECT_EQ(report.steps.size(), 1U);
    EXPECT_GE(use_of(report, step).busy_seconds, 0.002);
  }
}

TEST(StepClock, a_step_ends_where_the_next_one_begins) {
  StepMeter meter;
  {
    StepClock clock(&meter, take_converted), none(nullptr);
    clock.begin(Step::load);
    be_busy(std::chrono::milliseconds(3));
    clock.begin(Step::store);
    none.begin(Step::code);  // without a meter it does nothing
    EXPECT_EQ(DeviceSpans::current(), nullptr);
  }
  const StepReport report = meter.report(1.0, 1, {});
  EXPECT_GE(use_of(report, Step::load).busy_seconds, 0.003);
  EXPECT_GT(use_of(report, Step::store).busy_seconds, 0.0);
}

TEST(StepMeter, without_a_busy_step_there_is_no_wall) {
  StepMeter meter;
  add_seconds(meter, Step::read, 0.3);
  EXPECT_THAT(meter.report(1.0, 1, {}).sentence, HasSubstr("No step was busy most of the time"));
}

TEST(StepMeter, shares_stay_within_100_percent_and_need_a_duration) {
  StepMeter meter;
  add_seconds(meter, Step::kernels, 5.0);  // of lanes whose kernels overlap
  EXPECT_DOUBLE_EQ(use_of(meter.report(2.0, 1, {}), Step::kernels).percent, 100.0);
  EXPECT_DOUBLE_EQ(use_of(meter.report(0.0, 1, {}), Step::kernels).percent, 0.0);
}

/// From `begin` to `end` milliseconds.
DeviceSpan span_of(DeviceStep step, int device, int begin, int end) {
  using std::chrono::milliseconds;
  return {step, device, DeviceSpan::Time(milliseconds(begin)), DeviceSpan::Time(milliseconds(end))};
}

TEST(StepMeter, frames_that_wait_for_each_other_on_a_device_count_once) {
  StepMeter meter;
  meter.set_threads(StepPool::lanes, 2);
  add_seconds(meter, Step::code, 0.2);  // of two lanes
  meter.add_device(std::vector{span_of(DeviceStep::upload, 0, 1000, 1050),
                               span_of(DeviceStep::kernels, 0, 1050, 1060),
                               span_of(DeviceStep::download, 0, 1060, 1070)});
  meter.add_device(std::vector{span_of(DeviceStep::upload, 0, 1010, 1090),
                               span_of(DeviceStep::kernels, 0, 1090, 1100)});
  const StepReport report = meter.report(0.1, 2, {});
  EXPECT_DOUBLE_EQ(use_of(report, Step::upload).busy_seconds, 0.09);
  EXPECT_DOUBLE_EQ(use_of(report, Step::kernels).busy_seconds, 0.02);
  EXPECT_DOUBLE_EQ(use_of(report, Step::download).busy_seconds, 0.01);
  // What the lanes did beside waiting.
  EXPECT_NEAR(use_of(report, Step::code).busy_seconds, 0.04, 1e-9);
  EXPECT_EQ(report.sentence,
            "Copying to the GPU was the slowest step: it was busy 90 % of the time.");
  EXPECT_EQ(report.text(), "code 20 %, upload 90 %, kernels 20 %, download 10 %");
}

TEST(StepMeter, several_devices_work_side_by_side) {
  StepMeter meter;
  meter.set_threads(StepPool::gpu, 2);
  meter.add_device(std::vector{span_of(DeviceStep::kernels, 0, 0, 90)});
  meter.add_device(std::vector{span_of(DeviceStep::kernels, 1, 10, 100)});
  const StepReport report = meter.report(0.1, 2, {});
  EXPECT_DOUBLE_EQ(use_of(report, Step::kernels).busy_seconds, 0.18);
  EXPECT_EQ(report.sentence,
            "Running the kernels of the GPU was the slowest step: it kept 1.8 of 2 GPUs busy.");
}

TEST(StepClock, coding_leaves_out_what_devices_did_for_it) {
  StepMeter meter;
  {
    StepClock clock(&meter, take_converted);
    clock.begin(Step::code);
    const auto now = DeviceSpan::Time::clock::now();
    DeviceSpans* const device = DeviceSpans::current();
    ASSERT_NE(device, nullptr);
    device->spans.push_back({DeviceStep::upload, 0, now - std::chrono::hours(1), now});
  }
  EXPECT_EQ(DeviceSpans::current(), nullptr);
  const StepReport report = meter.report(4000.0, 1, {});
  EXPECT_DOUBLE_EQ(use_of(report, Step::upload).busy_seconds, 3600.0);
  EXPECT_EQ(report.steps.size(), 1U) << "coding took less than nothing";
}

TEST(StepMeter, threads_add_side_by_side) {
  StepMeter meter;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&meter] {
      for (int k = 0; k < 1000; ++k) meter.add(Step::code, std::chrono::microseconds(1));
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_DOUBLE_EQ(use_of(meter.report(1.0, 1, {}), Step::code).busy_seconds, 0.004);
}

BusyTime::Time at(int milliseconds) {
  return BusyTime::Time(std::chrono::milliseconds(milliseconds));
}

/// Some are empty, end before they begin, touch others or lie over several of them.
TEST(BusyTime, long_runs_of_spans_nearly_in_order_are_exact) {
  std::mt19937 random(1);
  const auto below = [&](int bound) { return static_cast<int>(random() % 65536) % bound; };
  BusyTime busy;
  std::set<int> covered;
  for (int i = 0; i < 20000; ++i) {
    const int begin = std::max(0, 6 * i - below(300)), end = begin - 1 + below(1 + i % 40);
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
