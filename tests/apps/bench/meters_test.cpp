// Which meter measures, with meters that stand in for a GPU's.
// SPDX-License-Identifier: MIT
#include "apps/bench/quality/meters.hpp"

#include <gtest/gtest.h>

#include "apps/bench/options.hpp"
#include "apps/common/failure.hpp"
#include "tests/cuda/quality/pairs.hpp"

namespace zerorun::app::bench {
namespace {

using rd::Image;
using test::Content;
using test::picture;
using test::with_noise;

/// The CPU's meter, with errors and a wrong sum on request.
class StandIn final : public rd::CudaMeter {
 public:
  StandIn(Status original, double wrong) : original_(std::move(original)), wrong_(wrong) {}
  Status set_original(const Image& original) override {
    meter_.emplace(original);
    return original_;
  }
  Result<rd::ScoreSums> sums(const Image& distorted) override {
    rd::ScoreSums sums = meter_->sums(distorted);
    sums.masked *= 1 + wrong_;
    return sums;
  }

 private:
  const Status original_;
  const double wrong_;
  std::optional<rd::Meter> meter_;
};

MakeCudaMeter stand_in(Status original = Status::ok(), double wrong = 0) {
  return [=](int) -> Result<std::unique_ptr<rd::CudaMeter>> {
    return std::unique_ptr<rd::CudaMeter>(std::make_unique<StandIn>(original, wrong));
  };
}

MakeCudaMeter no_meter() {
  return [](int) -> Result<std::unique_ptr<rd::CudaMeter>> {
    return Status(Errc::device_failure, "cudaMalloc: no");
  };
}

/// The exit code of `work`, done if it ends well.
template <typename Work>
Exit exit_of(const Work& work) {
  try {
    work();
  } catch (const Failure& failure) {
    return failure.code();
  }
  return Exit::done;
}

const Image kOriginal = picture(Content::photo, 40, 32), kDistorted = with_noise(kOriginal, 9);

std::vector<std::string> measured_on(Meters& meters) {
  meters.set_original(kOriginal);
  EXPECT_EQ(meters.measure(kDistorted), rd::Meter(kOriginal).measure(kDistorted));
  std::vector<std::string> devices;
  for (const MeterTime& time : meters.times()) {
    devices.push_back(time.device);
    EXPECT_EQ(time.pictures, 1U);
    EXPECT_GT(time.median_ms, 0);
  }
  return devices;
}

using Devices = std::vector<std::string>;

TEST(ChooseMeters, TakesTheFirstGpuAndTheCpuBesideItIfBothAreNamed) {
  const auto chosen = [](bool named, bool cpu, std::vector<int> cuda,
                         std::vector<std::vector<int>> teams) {
    Options options;
    if (named) options.devices = {"named"};
    Selection selection;
    selection.cpu = cpu;
    selection.cuda = std::move(cuda);
    selection.teams = std::move(teams);
    return choose_meters(options, selection);
  };
  const MeterChoice none = chosen(false, true, {}, {});
  EXPECT_TRUE(none.cpu && none.automatic && !none.cuda);
  const MeterChoice automatic = chosen(false, true, {0}, {});
  EXPECT_TRUE(!automatic.cpu && automatic.automatic && automatic.cuda == 0);
  const MeterChoice cpu = chosen(true, true, {}, {});
  EXPECT_TRUE(cpu.cpu && !cpu.automatic && !cpu.cuda);
  const MeterChoice cuda = chosen(true, false, {1}, {});
  EXPECT_TRUE(!cuda.cpu && !cuda.automatic && cuda.cuda == 1);
  const MeterChoice both = chosen(true, true, {2, 1}, {});
  EXPECT_TRUE(both.cpu && both.cuda == 2);
  EXPECT_EQ(chosen(true, false, {}, {{3, 4}}).cuda, 3);
}

TEST(Meters, MeasureWhereTheyAreChosen) {
  Meters cpu({true, std::nullopt, true}, no_meter());
  EXPECT_EQ(measured_on(cpu), Devices{"cpu"});
  Meters cuda({false, 1, false}, stand_in());
  EXPECT_EQ(measured_on(cuda), Devices{"cuda:1"});
  Meters both({true, 0, false}, stand_in());
  EXPECT_EQ(measured_on(both), (Devices{"cpu", "cuda:0"}));
  EXPECT_EQ(cpu.note() + cuda.note() + both.note(), "");
}

TEST(Meters, OnlyAnAutomaticChoiceGoesOnWithoutTheGpu) {
  Meters without({false, 0, true}, no_meter());
  EXPECT_EQ(measured_on(without), Devices{"cpu"});
  EXPECT_NE(without.note().find("cudaMalloc"), std::string::npos);
  EXPECT_EQ(exit_of([] { Meters({false, 0, false}, no_meter()); }), Exit::device);

  const Status no_memory(Errc::out_of_memory);
  Meters too_small({false, 0, true}, stand_in(no_memory));
  EXPECT_EQ(measured_on(too_small), Devices{"cpu"});
  EXPECT_NE(too_small.note(), "");
  Meters asked({false, 0, false}, stand_in(no_memory));
  EXPECT_EQ(exit_of([&] { asked.set_original(kOriginal); }), Exit::failed);
}

TEST(Meters, ThatDoNotAgreeEndTheCommand) {
  for (const double wrong : {0.001, -0.001}) {
    Meters meters({true, 0, false}, stand_in(Status::ok(), wrong));
    meters.set_original(kOriginal);
    EXPECT_EQ(exit_of([&] { (void)meters.measure(kDistorted); }), Exit::mismatch);
  }
}

}  // namespace
}  // namespace zerorun::app::bench
