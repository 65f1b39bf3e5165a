// Kernels of the tests: one that breaks a device, a late one, and one that keeps a device busy.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>

#include "cuda/base/memory.hpp"

namespace zerorun::test {

/// All later calls on the device fail in this process; others are not touched. False: it still
/// works.
bool break_device(int device);

/// Enqueues a kernel that lets the one behind it begin before it has done anything: `to[words]`,
/// which may be pinned memory, becomes `value` when `nanoseconds` have passed.
cudaError_t write_late(std::uint32_t* to, std::uint32_t words, std::uint32_t value,
                       std::uint32_t nanoseconds, cudaStream_t stream);

/// One word of device memory, after two milliseconds.
inline cudaError_t write_late(std::uint32_t* word, std::uint32_t value, cudaStream_t stream) {
  return write_late(word, 1, value, 2'000'000, stream);
}

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
