// Devices and pinned memory. Functions cuda_*() are those of the CUDA backend: they are defined in
// cuda/base and called by codec/api/backend.cpp alone, which knows whether CUDA was built.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
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

// For tests: the CPU pretends to be several CUDA devices, and a device fails.

/// The choice of a test.
struct TestDevices {
  int count = 0;     ///< the CPU pretends to be so many CUDA devices, up to 64, and there are no
                     ///< others; 0: it does not pretend
  int failing = -1;  ///< this device, a real one too, fails; -1: none does
  int frames = 0;    ///< so many frames of all its coders are coded before that
};

/// For what is asked and made from now on. The frames are counted anew. Thread-safe.
void set_test_devices(const TestDevices& devices);

/// How many devices the CPU pretends to be; 0: it does not pretend.
int test_device_count();
/// To be called after each frame of a device. Errors: device_failure, of the failing device after
/// its frames.
Status failure_for_test(int device);

// The words by which people name devices.

struct DeviceName {
  Backend backend = Backend::automatic;
  int index = 0;               ///< CUDA device index; of a list, the first one
  std::vector<int> list = {};  ///< of a list of several: all indices
  bool all_devices = false;    ///< cuda:all
};

/// "0,2": each index, 0 to 1023 without a sign, once. Empty: it is no such list.
inline std::vector<int> parse_device_list(std::string_view text) {
  std::vector<int> list;
  for (const char *at = text.data(), *const end = at + text.size();; ++at) {
    int index = 0;
    const auto [stop, error] = std::from_chars(at, end, index);
    if (error != std::errc() || index < 0 || index > 1023 || std::ranges::count(list, index) > 0)
      return {};
    list.push_back(index);
    if (stop == end) return list;
    if (*stop != ',') return {};
    at = stop;
  }
}

/// Parses auto, cpu, cuda, cuda:N, cuda:N,M,... (each once) or cuda:all, an index being 0 to 1023;
/// nullopt on anything else.
inline std::optional<DeviceName> parse_device_names(std::string_view text) {
  if (text == "auto") return DeviceName{};
  if (text == "cpu") return DeviceName{Backend::cpu, 0, {}, false};
  if (text == "cuda") return DeviceName{Backend::cuda, 0, {}, false};
  if (text == "cuda:all") return DeviceName{Backend::cuda, 0, {}, true};
  constexpr std::string_view kPrefix = "cuda:";
  if (!text.starts_with(kPrefix)) return std::nullopt;
  std::vector<int> list = parse_device_list(text.substr(kPrefix.size()));
  if (list.empty()) return std::nullopt;
  const int first = list[0];
  if (list.size() == 1) list.clear();
  return DeviceName{Backend::cuda, first, std::move(list), false};
}

/// Finds out what `cuda:all` means on this machine, which starts all devices: `list` and `index`
/// are then set. Errors: no_device, if there is none.
inline Status find_all_devices(DeviceName& name) {
  if (!name.all_devices) return Status::ok();
  std::vector<int> usable = usable_cuda_devices();
  name.all_devices = false;
  if (usable.empty()) {
    const Status status = resolve_backend(Backend::cuda).status();
    return status ? Status(Errc::no_device, "there is no usable CUDA device") : status;
  }
  name.index = usable[0];
  if (usable.size() > 1) name.list = std::move(usable);
  return Status::ok();
}

}  // namespace zerorun
