// For tests: what devices there seem to be.
// SPDX-License-Identifier: MIT
#include "codec/base/test_devices.hpp"

#include <algorithm>
#include <atomic>
#include <string>

namespace zerorun {
namespace {

constexpr int kMostTestDevices = 64;

struct Chosen {
  std::atomic<int> count{0}, failing{-1};
  std::atomic<int> frames{0}, begun{0};  // of the failing device, over all its pipelines
};
constinit Chosen chosen_devices;

}  // namespace

void set_test_devices(const TestDevices& devices) {
  chosen_devices.count = std::clamp(devices.count, 0, kMostTestDevices);
  chosen_devices.begun = 0;
  chosen_devices.frames = devices.frames;
  chosen_devices.failing = devices.failing;
}

int test_device_count() { return chosen_devices.count; }

Status failure_for_test(int device) {
  if (device < 0 || device != chosen_devices.failing) return Status::ok();
  if (chosen_devices.begun++ < chosen_devices.frames) return Status::ok();
  return Status(Errc::device_failure, "device " + std::to_string(device) + " fails for a test");
}

}  // namespace zerorun
