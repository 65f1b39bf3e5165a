// Which devices the lanes of one run work on, and what becomes of the frames of a device that
// fails.
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "codec/base/cuda_device.hpp"
#include "zerorun/backend.hpp"

namespace zerorun {

/// Stands for the CPU among the devices of a DeviceSet.
inline constexpr int kCpuDevice = -1;

/// The devices of a run. Thread-safe.
class DeviceSet {
 public:
  /// `devices` is not empty. `spare_cpu`: where no device can code a frame, the CPU does.
  explicit DeviceSet(std::vector<int> devices, bool spare_cpu = false)
      : devices_(std::move(devices)), spare_cpu_(spare_cpu) {}

  /// The device for the next attempt of a lane, counted from 0, none of `tried`: its own one,
  /// number lane % count in the list. The lanes of a device that was dropped are spread over the
  /// others. Nothing, if all were tried.
  std::optional<int> device_for(int lane, const std::vector<int>& tried) const;

  /// No lane takes the device any more. The first reason counts.
  void drop(int device, const Status& why);

  std::vector<LostDevice> lost() const {
    const std::lock_guard lock(mutex_);
    return lost_;
  }
  int count() const noexcept { return static_cast<int>(devices_.size()); }
  /// As given, dropped ones too.
  const std::vector<int>& devices() const noexcept { return devices_; }

 private:
  bool is_lost(int device) const;

  const std::vector<int> devices_;
  const bool spare_cpu_;
  mutable std::mutex mutex_;
  std::vector<LostDevice> lost_;  // in the order of their failures
};

/// Where lanes work: cpu or cuda, and on which devices.
struct DevicePlan {
  Backend backend = Backend::cpu;
  std::vector<int> devices = {kCpuDevice};  ///< CUDA indices; kCpuDevice alone on the CPU
  bool spare_cpu = false;                   ///< as DeviceSet's
};

/// From the choice of a caller: `device`, or those of `list` if it is not empty. `automatic` takes
/// those of the list that are usable, and has the CPU to spare.
/// Errors: those of resolve_backend(), invalid_argument.
Result<DevicePlan> plan_devices(Backend wanted, int device, const std::vector<int>& list);

/// True if another device may succeed where one failed with this status.
inline bool is_of_device(const Status& status) noexcept {
  return status.code() == Errc::out_of_memory || group(status.code()) == ErrorGroup::device;
}

/// A coder for each lane on each device that the lane has to use. Lanes are threads: each calls
/// run() with its own number, and destruction needs that no other call runs.
///
/// A device is dropped when it fails with a frame that another device then codes. If all devices
/// fail with a frame, the frame has the error, and the devices stay: the frame may be the reason.
/// A frame for which a device has too little memory goes to another one, and the device stays.
template <typename Coder>
class DeviceLanes {
 public:
  /// Makes a coder for a device of the set or for kCpuDevice.
  using Make = std::function<Result<Coder>(int device)>;

  DeviceLanes(DeviceSet& device_set, int lanes, Make make)
      : device_set_(device_set), make_(std::move(make)), lanes_(static_cast<std::size_t>(lanes)) {}

  /// Makes the coder of the lane's own device now, and not with its first frame.
  Status open(int lane) {
    const auto device = device_set_.device_for(lane, {});
    const NearDevice near(*device);
    return coder_of(lane, *device).status();
  }

  /// The coder of open(); null before it. Not while any lane runs: a device that fails loses its
  /// coders.
  const Coder* own(int lane) const {
    const auto& coders = lanes_[static_cast<std::size_t>(lane)];
    const auto found =
        coders.find(device_set_.devices()[static_cast<std::size_t>(lane % device_set_.count())]);
    return found == coders.end() ? nullptr : &found->second;
  }

  /// Returns work(coder, device) of the first device that does not fail. It may be called
  /// several times, with different coders.
  template <typename Work>
  Status run(int lane, const Work& work);

 private:
  Result<Coder*> coder_of(int lane, int device) {
    auto& coders = lanes_[static_cast<std::size_t>(lane)];
    if (const auto found = coders.find(device); found != coders.end()) return &found->second;
    auto made = make_(device);
    if (!made) return made.status();
    return &coders.emplace(device, *std::move(made)).first->second;
  }
  template <typename Work>
  Status try_on(int lane, int device, const Work& work) {
    const NearDevice near(device);
    const auto coder = coder_of(lane, device);
    return coder ? work(**coder, device) : coder.status();
  }

  DeviceSet& device_set_;
  const Make make_;
  std::vector<std::map<int, Coder>> lanes_;  // by device; each belongs to its lane's thread
};

template <typename Coder>
template <typename Work>
Status DeviceLanes<Coder>::run(int lane, const Work& work) {
  std::vector<int> tried;
  std::vector<LostDevice> failed;  // with a frame that another device may then code
  Status status;
  for (;;) {
    const auto device = device_set_.device_for(lane, tried);
    if (!device) return status;
    status = try_on(lane, *device, work);
    if (status)
      for (const LostDevice& lost : failed) {
        lanes_[static_cast<std::size_t>(lane)].erase(
            lost.device);  // its memory may be missing elsewhere
        if (lost.why.code() != Errc::out_of_memory) device_set_.drop(lost.device, lost.why);
      }
    if (!is_of_device(status)) return status;  // an error of the frame, or none
    tried.push_back(*device);
    failed.push_back({*device, status});
  }
}

}  // namespace zerorun
