// A device that other work keeps busy.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>

#include "cuda/base/memory.hpp"

namespace zerorun::test {

/// Takes all processors of the current device but one, with all their shared memory, until it is
/// destroyed, or for half a minute: an application's kernel that waits for a frame could do so.
class BusyDevice {
 public:
  BusyDevice();
  ~BusyDevice();
  BusyDevice(const BusyDevice&) = delete;
  BusyDevice& operator=(const BusyDevice&) = delete;

  /// Whether it has them all now.
  bool is_busy() const;

 private:
  /// Each CTA has two flags of its own: the bus need not have atomic operations.
  struct Flags {
    int stop;
    std::array<int, 1024> begun, ended;
  };
  PinnedBuffer<Flags> flags_;
  Stream stream_;
  int ctas_ = 0;
};

}  // namespace zerorun::test
