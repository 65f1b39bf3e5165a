// For tests: what devices there seem to be.
// SPDX-License-Identifier: MIT
#include "codec/base/test_devices.hpp"

#include <algorithm>
#include <atomic>
#include <string>

namespace zerorun {
namespace {

constexpr int kMostTestDevices = 64;

constinit std::atomic<int> g_count{0}, g_failing{-1};
constinit std::atomic<int> g_frames{0},
    g_begun{0};  // of the failing device, over all its pipelines

}  // namespace

void set_test_devices(const TestDevices& devices) {
  g_count = std::clamp(devices.count, 0, kMostTestDevices);
  g_begun = 0;
  g_frames = devices.frames;
  g_failing = devices.failing;
}

int test_device_count() { return g_count; }

Status failure_for_test(int device) {
  if (device < 0 || device != g_failing) return Status::ok();
  if (g_begun++ < g_frames) return Status::ok();
  return Status(Errc::device_failure, "device " + std::to_string(device) + " fails for a test");
}

}  // namespace zerorun
