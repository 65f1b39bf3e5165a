// Devices and pinned memory. Functions cuda_*() are those of the CUDA backend: they are defined in
// cuda/base and called by codec/api/backend.cpp alone, which knows whether CUDA was built.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "zerorun/backend.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

/// As long as it lives, this device allocates the pinned memory of this thread, so that no other
/// one is started for it. Negative: any. Objects nest.
class NearDevice {
 public:
  explicit NearDevice(int device) noexcept : before_(current()) { current() = device; }
  ~NearDevice() { current() = before_; }
  NearDevice(const NearDevice&) = delete;
  NearDevice& operator=(const NearDevice&) = delete;

  /// The device of this thread; negative: none.
  static int device() noexcept { return current(); }

 private:
  static int& current() noexcept {
    thread_local int device = -1;
    return device;
  }
  const int before_;
};

/// By the device of NearDevice, for all devices. Errors: cuda_not_built, no_device, out_of_memory,
/// device_failure.
Result<std::byte*> allocate_pinned(std::size_t bytes);
void release_pinned(std::byte* memory) noexcept;

/// From now on every HostBuffer of the process becomes pageable where there is no pinned memory:
/// for a program that left the choice of the backend to the library, when its device breaks.
void allow_pageable_instead();

/// Ordinary memory, aligned to 64 bytes, for std::free(). `bytes` is a multiple of 64.
Result<std::byte*> allocate_pageable(std::size_t bytes);

std::vector<DeviceInfo> cuda_backend_devices();

/// Errors: no_device.
Result<DeviceInfo> cuda_backend_device(int device);

/// Whether this build can use the device. Starts no other device. Errors: no_device,
/// device_unsuitable.
Status cuda_backend_check(int device);

/// Why cuda_backend_devices() is empty, in the driver's words.
std::string cuda_backend_absence();

/// Pinned memory that every device can use. Errors: no_device, out_of_memory, device_failure.
Result<std::byte*> cuda_allocate_pinned(std::size_t bytes);
void cuda_release_pinned(std::byte* memory) noexcept;

/// Looks into the folder of device files, "/dev": the driver makes nvidia0, nvidia1, ... for its
/// GPUs, dxg under WSL, and nvhost-* or nvgpu on boards with a GPU of their own. `visible` is the
/// value of CUDA_VISIBLE_DEVICES or null; an empty value and -1 hide all devices.
bool has_driver_files(const std::string& folder, const char* visible);

}  // namespace zerorun
