// Pinned host memory, and the device near which a thread allocates it; codec/api/backend.cpp
// defines the functions by what was built.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "zerorun/status.hpp"

namespace zerorun {

/// As long as it lives, pinned memory that this thread allocates lies on the NUMA node of the
/// device. Negative: no device, anywhere. Objects nest.
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

/// Near the device of NearDevice. Errors: cuda_not_built, no_device, out_of_memory, device_failure.
Result<std::byte*> allocate_pinned(std::size_t bytes);
void release_pinned(std::byte* memory) noexcept;

/// From now on every HostBuffer of the process gets pageable memory where there is no pinned
/// memory: for a program that left the choice of the backend to the library, when its device
/// breaks.
void allow_pageable_instead();

/// Ordinary memory, aligned to 64 bytes, for std::free(). `bytes` is a multiple of 64.
Result<std::byte*> allocate_pageable(std::size_t bytes);

}  // namespace zerorun
