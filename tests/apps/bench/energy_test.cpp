// The energy of frames: NVML by a library that stands in for it, RAPL by a folder, and the sums.
// SPDX-License-Identifier: MIT
#include "apps/bench/measure/energy.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace zerorun::app::bench {
namespace {

constexpr const char* kBus = "0000:01:00.0";

TEST(Nvml, AsksTheLibrary) {
  const Nvml nvml(ZERORUN_STAND_IN_NVML);
  ASSERT_TRUE(nvml.status()) << nvml.status().message();
  EXPECT_EQ(nvml.driver_version(), "1.2.3");
  EXPECT_EQ(nvml.clocks(kBus), "1980 MHz, memory 2619 MHz");
  const auto first = nvml.millijoules(kBus), second = nvml.millijoules(kBus);
  ASSERT_TRUE(first);
  EXPECT_EQ(*second - *first, 1500u);
}

TEST(Nvml, SaysWhyItCannot) {
  const Nvml missing("/no/such/library.so");
  EXPECT_EQ(missing.status().code(), Errc::no_device);
  EXPECT_EQ(missing.millijoules(kBus).status(), missing.status());
  EXPECT_EQ(missing.clocks(kBus), "");
  const Nvml nvml(ZERORUN_STAND_IN_NVML);
  EXPECT_EQ(nvml.millijoules("0000:07:00.0").status().code(), Errc::no_device);
  EXPECT_EQ(nvml.millijoules("0000:02:00.0").status().code(), Errc::device_unsuitable);
  ASSERT_EQ(setenv("ZERORUN_STAND_IN_NVML_FAILS", "1", 1), 0);
  EXPECT_EQ(Nvml(ZERORUN_STAND_IN_NVML).status().code(), Errc::no_device);
  unsetenv("ZERORUN_STAND_IN_NVML_FAILS");
}

TEST(NvmlCounter, CountsJoules) {
  const auto counter = open_nvml_counter(kBus, ZERORUN_STAND_IN_NVML);
  ASSERT_TRUE(counter);
  const auto first = (*counter)->joules(), second = (*counter)->joules();
  EXPECT_NEAR(*second - *first, 1.5, 1e-9);
  EXPECT_FALSE(open_nvml_counter("0000:02:00.0", ZERORUN_STAND_IN_NVML));
}

/// The system's folder with two packages, a part of one, and the counter of the whole platform.
class Powercap {
 public:
  Powercap()
      : folder_(std::filesystem::temp_directory_path() /
                ("zerorun-powercap-" + std::to_string(getpid()))) {
    add("intel-rapl:0", "package-0");
    add("intel-rapl:1", "package-1");
    add("intel-rapl:0:0", "dram");
    add("intel-rapl:2", "psys");
  }
  ~Powercap() { std::filesystem::remove_all(folder_); }
  void set(const char* zone, long long microjoules) const {
    std::ofstream(folder_ / zone / "energy_uj") << microjoules << "\n";
  }
  std::string name() const { return folder_.string(); }

 private:
  void add(const char* zone, const char* what) const {
    std::filesystem::create_directories(folder_ / zone);
    std::ofstream(folder_ / zone / "name") << what << "\n";
    std::ofstream(folder_ / zone / "max_energy_range_uj") << 10'000'000 << "\n";
    set(zone, 1'000'000);
  }
  std::filesystem::path folder_;
};

TEST(RaplCounter, AddsUpPackages) {
  const Powercap powercap;
  const auto counter = open_rapl_counter(powercap.name());
  ASSERT_TRUE(counter) << counter.status().message();
  const double before = *(*counter)->joules();
  powercap.set("intel-rapl:0", 3'000'000);
  powercap.set("intel-rapl:1", 1'500'000);
  powercap.set("intel-rapl:0:0", 9'000'000);  // a part of package 0
  powercap.set("intel-rapl:2", 9'000'000);
  EXPECT_NEAR(*(*counter)->joules() - before, 2.5, 1e-9);
}

TEST(RaplCounter, GoesOnWhereTheCounterBeginsAgain) {
  const Powercap powercap;
  powercap.set("intel-rapl:0", 9'000'000);
  const auto counter = open_rapl_counter(powercap.name());
  const double before = *(*counter)->joules();
  powercap.set("intel-rapl:0", 500'000);
  EXPECT_NEAR(*(*counter)->joules() - before, 1.5, 1e-9);
}

TEST(RaplCounter, SaysWhyThereIsNone) {
  EXPECT_EQ(open_rapl_counter("/no/such/folder").status().code(), Errc::no_device);
  const Powercap powercap;
  std::filesystem::remove(powercap.name() + "/intel-rapl:1/energy_uj");  // as if it were protected
  EXPECT_EQ(open_rapl_counter(powercap.name()).status().code(), Errc::open_failed);
}

/// 100 W while nothing runs, 400 W while frames are coded.
class FakeMachine final : public EnergyCounter {
 public:
  Result<double> joules() override { return joules_; }
  void pass(double seconds, double watts) {
    seconds_ += seconds;
    joules_ += seconds * watts;
  }
  double seconds_ = 10, joules_ = 7e4;
};

class FakeMeter final : public EnergyMeter {
 public:
  explicit FakeMeter(FakeMachine& machine) : EnergyMeter(1), machine_(machine) {}
  int waits() const { return waits_; }

 protected:
  double now() const override { return machine_.seconds_; }
  void wait(double seconds) const override {
    machine_.pass(seconds, 100);
    ++waits_;
  }

 private:
  FakeMachine& machine_;
  mutable int waits_ = 0;
};

TEST(EnergyMeter, TakesTheIdlePowerOff) {
  FakeMachine machine;
  FakeMeter meter(machine);
  const auto run = [&] { return machine.pass(2, 400), Status::ok(); };
  const auto energy = meter.measure("cuda:0", machine, 1000, run);
  ASSERT_TRUE(energy);
  EXPECT_EQ(energy->source, "cuda:0");
  EXPECT_NEAR(energy->joules, 0.8, 1e-9);
  EXPECT_NEAR(energy->above_idle_joules, 0.6, 1e-9);
  EXPECT_NEAR(energy->watts, 400, 1e-9);
  EXPECT_NEAR(energy->idle_watts, 100, 1e-9);
  ASSERT_TRUE(meter.measure("cuda:0", machine, 1000, run));
  EXPECT_EQ(meter.waits(), 1) << "the machine was idle only before the first row";
  EXPECT_EQ(
      meter.measure("cuda:0", machine, 1, [] { return Status(Errc::read_failed); }).status().code(),
      Errc::read_failed);
}

TEST(EnergyMeter, ShowsNoLessThanNothingAboveIdle) {
  EXPECT_EQ(energy_of(10, 1, 2, 50).above_idle_joules, 0);
}

}  // namespace
}  // namespace zerorun::app::bench
