// Several devices that work on one run of frames: the CPU pretends to be devices that fail.
// SPDX-License-Identifier: MIT
#include "codec/api/device_set.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <set>

#include "codec/api/pipelines.hpp"
#include "codec/base/cuda_device.hpp"
#include "tests/support/test_frame.hpp"
#include "zerorun/async.hpp"

namespace zerorun::test {
namespace {

const Status kBroken(Errc::device_failure, "broken");
const Status kNoMemory(Errc::out_of_memory, "full");

/// Says which device it was made for.
struct FakeCoder {
  int device;
  Backend backend() const { return Backend::cuda; }
};
struct FakeJob {
  int value = 0;
};
struct FakeOutput {
  std::int64_t number = 0;
  std::uint64_t tag = 0;
  Status status;
  int device = -1;
  int value = 0;
  int input = 0;
};
using FakeLanes = AsyncLanes<FakeCoder, FakeJob, FakeOutput, &FakeOutput::input>;

Result<FakeCoder> make_fake(int device) { return FakeCoder{device}; }

std::vector<int> indices(const std::vector<LostDevice>& lost) {
  std::vector<int> all;
  for (const LostDevice& each : lost) all.push_back(each.device);
  return all;
}

/// What `frames` frames came to: their devices; each has its value doubled, in order.
std::vector<int> run_all(FakeLanes& lanes, int frames) {
  std::vector<int> devices;
  FakeOutput out;
  for (int sent = 0; std::ssize(devices) < frames;) {
    if (sent < frames && lanes.in_flight() < lanes.depth()) {
      const int value = sent++;
      EXPECT_TRUE(
          lanes.submit(0, false, [value](FakeJob& job, FakeOutput&) { job.value = value; }));
      continue;
    }
    EXPECT_EQ(lanes.receive(out, true), Received::frame);
    EXPECT_TRUE(out.status) << out.status.message();
    EXPECT_EQ(out.value, 2 * static_cast<int>(std::ssize(devices)));
    devices.push_back(out.device);
  }
  return devices;
}

Status double_value(FakeCoder&, const FakeJob& job, FakeOutput& output) {
  output.value = 2 * job.value;
  return Status::ok();
}

TEST(DeviceSet, LanesOfALostDeviceAreSpreadOverTheOthers) {
  DeviceSet device_set({0, 1, 2});
  device_set.drop(1, kBroken);
  device_set.drop(1, kNoMemory);
  ASSERT_EQ(device_set.lost().size(), 1u);
  EXPECT_EQ(device_set.lost()[0].why, kBroken);
  EXPECT_EQ(device_set.device_for(1, {}), 0);
  EXPECT_EQ(device_set.device_for(4, {}), 2);
  EXPECT_EQ(device_set.device_for(2, {}), 2);
}

TEST(DeviceLanes, UseEveryDeviceAndKeepTheOrder) {
  FakeLanes lanes;
  std::atomic<int> running{0};
  // Holds the lanes until all four work: with a GPU each takes as long as the others.
  const auto work = [&](FakeCoder& coder, const FakeJob& job, FakeOutput& output) {
    ++running;
    while (running < 4) std::this_thread::yield();
    return double_value(coder, job, output);
  };
  ASSERT_TRUE(lanes.start({Backend::cuda, {3, 5}, false}, make_fake, 4, 8, work));
  const std::vector<int> devices = run_all(lanes, 100);
  EXPECT_EQ((std::set<int>(devices.begin(), devices.end())), (std::set{3, 5}));
  EXPECT_TRUE(lanes.lost_devices().empty());
}

TEST(DeviceLanes, ADeviceThatFailsIsDroppedAndItsFramesAreDoneAgain) {
  FakeLanes lanes;
  std::atomic<int> on_one{0}, after{0};
  const auto work = [&](FakeCoder& coder, const FakeJob& job, FakeOutput& output) {
    output.value = -1;  // what a broken device leaves behind
    if (coder.device == 1 && ++on_one > 10) return ++after, kBroken;
    return double_value(coder, job, output);
  };
  ASSERT_TRUE(lanes.start({Backend::cuda, {0, 1, 2}, false}, make_fake, 6, 12, work));
  const std::vector<int> devices = run_all(lanes, 500);
  // On a machine that is busy, the lanes of device 1 may have found less to do.
  if (on_one > 10) {
    ASSERT_EQ(indices(lanes.lost_devices()), std::vector{1});
    EXPECT_EQ(lanes.lost_devices()[0].why, kBroken);
    EXPECT_LE(after, 2) << "each of its two lanes fails once at most";
  }
  EXPECT_LE(std::count(devices.begin(), devices.end(), 1), 10);
}

TEST(DeviceLanes, OneLaneGoesOnWithTheOtherDevice) {
  DeviceSet device_set({0, 1});
  DeviceLanes<FakeCoder> lanes(device_set, 1, make_fake);
  std::vector<int> asked;
  const auto work = [&](FakeCoder& coder, int device) {
    EXPECT_EQ(coder.device, device);
    asked.push_back(device);
    return device == 0 && asked.size() > 2 ? kBroken : Status::ok();
  };
  for (int frame = 0; frame < 4; ++frame) EXPECT_TRUE(lanes.run(0, work));
  EXPECT_EQ(asked, (std::vector{0, 0, 0, 1, 1}));
  EXPECT_EQ(indices(device_set.lost()), std::vector{0});
}

TEST(DeviceLanes, AFrameThatNoDeviceCanCodeDropsNone) {
  DeviceSet device_set({0, 1});
  DeviceLanes<FakeCoder> lanes(device_set, 2, make_fake);
  int attempts = 0;
  const auto fail = [&](FakeCoder&, int) { return ++attempts, kBroken; };
  EXPECT_EQ(lanes.run(1, fail), kBroken);
  EXPECT_EQ(attempts, 2);
  EXPECT_TRUE(device_set.lost().empty());
  EXPECT_TRUE(lanes.run(1, [](FakeCoder&, int) { return Status::ok(); }));
}

TEST(DeviceLanes, AnErrorOfTheFrameIsNotTriedAgain) {
  DeviceSet device_set({0, 1});
  DeviceLanes<FakeCoder> lanes(device_set, 1, make_fake);
  int attempts = 0;
  const auto work = [&](FakeCoder&, int) { return ++attempts, Status(Errc::invalid_frame); };
  EXPECT_EQ(lanes.run(0, work).code(), Errc::invalid_frame);
  EXPECT_EQ(attempts, 1);
}

TEST(DeviceLanes, AFrameTooLargeForADeviceGoesToAnotherAndTheDeviceStays) {
  DeviceSet device_set({0, 1});
  DeviceLanes<FakeCoder> lanes(device_set, 1, make_fake);
  std::vector<int> coded;
  const auto large = [&](FakeCoder&, int device) {
    if (device == 0) return kNoMemory;
    coded.push_back(device);
    return Status::ok();
  };
  const auto small = [&](FakeCoder&, int device) { return coded.push_back(device), Status::ok(); };
  EXPECT_TRUE(lanes.run(0, large));
  EXPECT_TRUE(lanes.run(0, small));
  EXPECT_EQ(coded, (std::vector{1, 0}));
  EXPECT_TRUE(device_set.lost().empty());
}

TEST(DeviceLanes, ADeviceWithoutACoderIsDroppedToo) {
  DeviceSet device_set({0, 1}, true);
  const auto make = [](int device) -> Result<FakeCoder> {
    if (device != kCpuDevice) return kBroken;
    return FakeCoder{device};
  };
  DeviceLanes<FakeCoder> lanes(device_set, 1, make);
  EXPECT_TRUE(lanes.run(0, [](FakeCoder& coder, int) {
    EXPECT_EQ(coder.device, kCpuDevice);
    return Status::ok();
  }));
  EXPECT_EQ(indices(device_set.lost()), (std::vector{0, 1}));
}

TEST(DeviceLanes, SayForWhichDeviceTheyAllocate) {
  DeviceSet device_set({0, 5});
  DeviceLanes<FakeCoder> lanes(device_set, 2, make_fake);
  EXPECT_TRUE(lanes.run(1, [](FakeCoder&, int) {
    EXPECT_EQ(NearDevice::device(), 5);
    return Status::ok();
  }));
  EXPECT_EQ(NearDevice::device(), -1);
}

TEST(DeviceLanes, AreMadeOnAllDevicesOrNotAtAll) {
  FakeLanes lanes;
  const auto make = [](int device) -> Result<FakeCoder> {
    if (device == 1) return kBroken;
    return FakeCoder{device};
  };
  EXPECT_EQ(lanes.start({Backend::cuda, {0, 1}, false}, make, 4, 4, double_value), kBroken);
}

/// The CPU is several devices, for one test.
class PretendedDevices {
 public:
  explicit PretendedDevices(const TestDevices& devices) { set_test_devices(devices); }
  ~PretendedDevices() { set_test_devices({}); }
  PretendedDevices(const PretendedDevices&) = delete;
  PretendedDevices& operator=(const PretendedDevices&) = delete;
};

TEST(FlightSizes, CountLanesForEachDevice) {
  const PretendedDevices three({.count = 3});
  const auto sizes = choose_flight_sizes(0, 0, {Backend::cuda, {0, 1, 2}, false});
  ASSERT_TRUE(sizes);
  EXPECT_EQ(sizes->lanes, 12);
  EXPECT_EQ(sizes->depth, 24);
}

TEST(PlanDevices, ChecksTheList) {
  const PretendedDevices three({.count = 3});
  EXPECT_EQ(usable_cuda_devices(), (std::vector{0, 1, 2}));
  EXPECT_EQ(plan_devices(Backend::cuda, 0, {0, 2})->devices, (std::vector{0, 2}));
  EXPECT_EQ(plan_devices(Backend::cuda, 2, {})->devices, std::vector{2});
  EXPECT_EQ(plan_devices(Backend::cuda, 0, {1})->devices, std::vector{1});
  EXPECT_EQ(plan_devices(Backend::cuda, 0, {0, 0}).status().code(), Errc::invalid_argument);
  EXPECT_EQ(plan_devices(Backend::cpu, 0, {0, 1}).status().code(), Errc::invalid_argument);
  EXPECT_EQ(plan_devices(Backend::cuda, 0, {0, 3}).status().code(), Errc::no_device);
  EXPECT_EQ(plan_devices(Backend::cuda, 0, {0, -1}).status().code(), Errc::invalid_argument);
  const auto automatic = plan_devices(Backend::automatic, 0, {0, 3, 2});
  EXPECT_EQ(automatic->devices, (std::vector{0, 2}));
  EXPECT_TRUE(automatic->spare_cpu);
  EXPECT_EQ(plan_devices(Backend::automatic, 0, {3, 4})->backend, Backend::cpu);
}

TEST(DeviceNames, HaveLists) {
  EXPECT_EQ(parse_device_names("cuda:0,2")->list, (std::vector{0, 2}));
  EXPECT_EQ(parse_device_names("cuda:5,2")->index, 5);
  EXPECT_TRUE(parse_device_names("cuda:3")->list.empty());
  EXPECT_TRUE(parse_device_names("cuda:all")->all_devices);
  for (const char* text : {"cuda:", "cuda:0,", "cuda:,0", "cuda:0,0", "cuda:0,x", "cuda:0,-1",
                           "cuda:0 ,1", "cuda:0,1024", "cpu,cuda", "cuda:all,0", "0,1"})
    EXPECT_FALSE(parse_device_names(text)) << text;
  EXPECT_EQ(parse_device_names("cuda:7")->index, 7);
}

/// The CPU goes on where an automatic choice took the only device, which fails.
TEST(SeveralTestDevices, LeaveTheCpuWhereTheOnlyOneFails) {
  const PretendedDevices one({.count = 1, .failing = 0, .frames = 2});
  const TestFrame frame = make_frame(Content::photo, PixelFormat::yuv420p, 64, 48, 1);
  AsyncEncodeParams params;
  params.lanes = 1;
  auto encoder = AsyncEncoder::create(params);
  ASSERT_TRUE(encoder) << encoder.status().message();
  EXPECT_EQ(encoder->backend(), Backend::cuda);
  EncodedFrame out;
  std::vector<int> took;
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(encoder->submit(frame.view()));
    ASSERT_EQ(encoder->receive(out, true), Received::frame);
    ASSERT_TRUE(out.status) << out.status.message();
    took.push_back(out.device);
  }
  EXPECT_EQ(took, (std::vector{0, 0, kCpuDevice, kCpuDevice}));
  EXPECT_EQ(indices(encoder->lost_devices()), std::vector{0});
}

}  // namespace
}  // namespace zerorun::test
