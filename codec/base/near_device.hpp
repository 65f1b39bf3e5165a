// The device that a thread works for, so that pinned memory can be allocated near it.
// SPDX-License-Identifier: MIT
#pragma once

namespace zerorun {

/// As long as it lives, pinned memory that this thread allocates lies on the NUMA node of the
/// device. Negative: no device, anywhere. Objects nest.
class NearDevice {
 public:
  explicit NearDevice(int device) noexcept : before_(current()) { current() = device; }
  ~NearDevice() { current() = before_; }
  NearDevice(const NearDevice&) = delete;
  NearDevice& operator=(const NearDevice&) = delete;

  /// Of this thread; negative: none.
  static int device() noexcept { return current(); }

 private:
  static int& current() noexcept {
    thread_local int device = -1;
    return device;
  }
  const int before_;
};

}  // namespace zerorun
