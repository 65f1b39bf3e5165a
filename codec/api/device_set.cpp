// The devices of a run, and which of them a lane takes.
// SPDX-License-Identifier: MIT
#include "codec/api/device_set.hpp"

#include <algorithm>
#include <string>

#include "codec/base/try.hpp"

namespace zerorun {

bool DeviceSet::is_lost(int device) const {
  return std::ranges::find(lost_, device, &LostDevice::device) != lost_.end();
}

std::optional<int> DeviceSet::device_for(int lane, const std::vector<int>& tried) const {
  const std::lock_guard lock(mutex_);
  const auto is_out = [&](int device) {
    return std::ranges::find(tried, device) != tried.end() || is_lost(device);
  };
  const int own = devices_[static_cast<std::size_t>(lane % count())];
  if (!is_out(own)) return own;
  std::vector<int> others;
  for (const int device : devices_)
    if (!is_out(device)) others.push_back(device);
  // Neighbouring lanes of one device are `count` apart: they go to different devices.
  if (!others.empty()) return others[static_cast<std::size_t>(lane / count()) % others.size()];
  if (spare_cpu_ && !is_out(kCpuDevice)) return kCpuDevice;
  return std::nullopt;
}

void DeviceSet::drop(int device, const Status& why) {
  const std::lock_guard lock(mutex_);
  if (!is_lost(device)) lost_.push_back({device, why});
}

static Status check_list(Backend wanted, const std::vector<int>& list) {
  if (wanted == Backend::cpu)
    return Status(Errc::invalid_argument, "a list of devices does not go with the CPU");
  std::vector<int> sorted = list;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice == sorted.end()) return Status::ok();
  return Status(Errc::invalid_argument, "device " + std::to_string(*twice) + " is listed twice");
}

Result<DevicePlan> plan_devices(Backend wanted, int device, const std::vector<int>& list) {
  if (!list.empty()) ZR_TRY(check_list(wanted, list));
  DevicePlan plan{Backend::cuda, {}, wanted == Backend::automatic};
  for (const int each : list.empty() ? std::vector{device} : list) {
    ZR_LET(backend, resolve_backend(wanted, each));
    if (backend == Backend::cuda) plan.devices.push_back(each);
  }
  return plan.devices.empty() ? DevicePlan{} : plan;
}

}  // namespace zerorun
