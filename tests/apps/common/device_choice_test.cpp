// What --device auto chooses, and how CUDA is started, without a GPU.
// SPDX-License-Identifier: MIT
#include "apps/common/device_choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "apps/common/process.hpp"
#include "codec/base/cuda_device.hpp"

namespace zerorun::app {
namespace {

using testing::HasSubstr;

constexpr DeviceCosts kCosts = {2e-3, 0.0, 0.3};  // 150 megapixels on one thread

TEST(DeviceChoice, the_start_of_cuda_is_worth_it_from_the_break_even_on) {
  EXPECT_DOUBLE_EQ(kCosts.break_even_pixels(1), 150e6);
  EXPECT_DOUBLE_EQ(kCosts.break_even_pixels(16), 2400e6);
  EXPECT_EQ(choose_by_work(149e6, 1, kCosts).backend, Backend::cpu);
  EXPECT_EQ(choose_by_work(151e6, 1, kCosts).backend, Backend::cuda);
  EXPECT_EQ(choose_by_work(151e6, 2, kCosts).backend, Backend::cpu);
  EXPECT_THAT(choose_by_work(2.1e6, 2, kCosts).reason,
              "the input has about 2.1 megapixels, and the start of CUDA (0.3 s) pays off from 300 "
              "on, with 2 threads");
  EXPECT_EQ(choose_by_work(std::nullopt, 2, kCosts).backend, Backend::cuda);
}

TEST(DeviceChoice, so_many_threads_that_a_gpu_is_no_faster) {
  EXPECT_TRUE(std::isinf(DeviceCosts{2e-3, 1.5e-3, 0.3}.break_even_pixels(2)));
  EXPECT_EQ(choose_by_work(1e15, 2, {2e-3, 1.5e-3, 0.3}).backend, Backend::cpu);
}

/// CUDA_VISIBLE_DEVICES after hide_unused_devices(); null: it was not set before.
std::string seen(const DeviceOptions& options, const char* before = "5,6") {
  const char* const name = "CUDA_VISIBLE_DEVICES";
  before != nullptr ? ::setenv(name, before, 1) : ::unsetenv(name);
  hide_unused_devices(options);
  const char* const value = std::getenv(name);
  const std::string after = value != nullptr ? value : "not set";
  ::unsetenv(name);
  return after;
}

TEST(DeviceChoice, cuda_sees_no_other_gpu_than_the_one_in_use) {
  EXPECT_EQ(seen({}, nullptr), "0");
  EXPECT_EQ(seen({}, "3,1"), "3");
  EXPECT_EQ(seen({}, "GPU-8932f937,GPU-1"), "GPU-8932f937");
  for (const char* const one : {"", "-1", "2", "MIG-GPU-8932f937/1/2"})
    EXPECT_EQ(seen({}, one), one);
}

TEST(DeviceChoice, gpus_are_hidden_only_where_the_first_is_meant_alone) {
  DeviceOptions options;
  for (const Backend backend : {Backend::cuda, Backend::automatic}) {
    options = {};
    options.backend = backend;
    EXPECT_EQ(seen(options), "5");
    options.index = 1;
    EXPECT_EQ(seen(options), "5,6");
    options.index = 0;
    options.list = {0, 1};
    EXPECT_EQ(seen(options), "5,6");
  }
  options = {};
  options.backend = Backend::cpu;
  EXPECT_EQ(seen(options), "5,6");
  options.backend = Backend::cuda;
  options.all_devices = true;
  EXPECT_EQ(seen(options), "5,6");
}

/// A machine with a device that starts, or says why it does not.
DeviceProbe probe_of(Status presence, Status start, std::atomic<int>& starts) {
  return {[presence] { return presence; },
          [start, &starts](int) {
            ++starts;
            return start;
          }};
}

DeviceOptions asking_for(Backend backend) {
  DeviceOptions options;
  options.backend = backend;
  options.threads = 2;
  return options;
}

TEST(DeviceStart, what_is_asked_for_there_and_worth_it_is_started_once) {
  constexpr double kMuch = 1e12, kLittle = 1e6;
  const struct {
    Backend asked;
    double pixels;
    Errc presence, start;
    Backend source, end;
    int starts;
  } cases[] = {
      {Backend::automatic, kMuch, Errc::no_device, Errc::ok, Backend::cpu, Backend::cpu, 0},
      {Backend::automatic, kLittle, Errc::ok, Errc::ok, Backend::cpu, Backend::cpu, 0},
      {Backend::automatic, kMuch, Errc::ok, Errc::ok, Backend::automatic, Backend::cuda, 1},
      {Backend::automatic, kMuch, Errc::ok, Errc::device_unsuitable, Backend::automatic,
       Backend::cpu, 1},
      {Backend::automatic, kMuch, Errc::ok, Errc::out_of_memory, Backend::automatic, Backend::cpu,
       1},
      {Backend::automatic, kMuch, Errc::ok, Errc::device_failure, Backend::automatic, Backend::cpu,
       1},
      {Backend::cuda, kLittle, Errc::ok, Errc::ok, Backend::cuda, Backend::cuda, 1}};
  for (const auto& c : cases) {
    SCOPED_TRACE(testing::Message() << &c - cases);
    std::atomic<int> starts{0};
    DeviceStart device(asking_for(c.asked), c.pixels, Work::encode,
                       probe_of(Status(c.presence), Status(c.start), starts));
    EXPECT_EQ(device.for_source().backend, c.source);
    EXPECT_EQ(device.finish(), c.end);
    EXPECT_EQ(device.finish(), c.end) << "a second time";
    EXPECT_EQ(device.for_coders(), c.end == Backend::cpu ? Backend::cpu : c.asked);
    EXPECT_EQ(starts, c.starts);
  }
}

TEST(DeviceStart, cuda_that_does_not_start_is_a_failure) {
  std::atomic<int> starts{0};
  DeviceStart broken(asking_for(Backend::cuda), 1.0, Work::encode,
                     probe_of(Status::ok(), Status(Errc::device_unsuitable), starts));
  try {
    (void)broken.finish();
    ADD_FAILURE() << "no failure";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), Exit::device);
  }
}

TEST(DeviceStart, cpu_asks_for_nothing) {
  const DeviceProbe none;  // calling it would throw
  DeviceStart device(asking_for(Backend::cpu), 1e12, Work::encode, none);
  EXPECT_EQ(device.finish(), Backend::cpu);
}

TEST(DriverFiles, are_seen_unless_devices_are_hidden) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "zerorun_driver_files";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const auto found = [&folder](const char* visible) {
    return has_driver_files(folder.string(), visible);
  };
  for (const char* name : {"null", "nvidia", "nvidiactl", "nvidia-uvm"})
    std::ofstream(folder / name) << "";
  EXPECT_FALSE(found(nullptr)) << "a driver without a device";
  std::ofstream(folder / "nvidia3") << "";
  EXPECT_TRUE(found(nullptr));
  EXPECT_TRUE(found("0,1"));
  EXPECT_FALSE(found(""));
  EXPECT_FALSE(found("-1"));
  std::filesystem::remove_all(folder);
  EXPECT_FALSE(found(nullptr)) << "no folder";
}

}  // namespace
}  // namespace zerorun::app
