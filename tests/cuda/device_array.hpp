// Guarded buffers in device memory.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "tests/support/guarded_buffer.hpp"

namespace zerorun::test {

/// In device memory, of exact size, poisoned, between canaries.
template <typename T>
class DeviceArray : public GuardedBuffer<T> {
 public:
  explicit DeviceArray(std::size_t size) : GuardedBuffer<T>(Memory::device, size) {}
  explicit DeviceArray(const std::vector<T>& values)
      : GuardedBuffer<T>(Memory::device, std::span<const T>(values)) {}

  /// Waits for all streams: copying alone waits for the default stream only.
  std::vector<T> to_host() {
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    return GuardedBuffer<T>::to_host();
  }
};

}  // namespace zerorun::test
