// Guarded buffers in device memory, the way the codec's parity tests use them.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "tests/support/guarded_buffer.hpp"

namespace zerorun::test {

template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) : buffer_(Memory::device, count) {}
  explicit DeviceArray(const std::vector<T>& contents)
      : buffer_(Memory::device, std::span<const T>(contents)) {}

  T* data() const { return buffer_.data(); }

  /// Waits for all streams: copying alone waits for the default stream only.
  std::vector<T> to_host() {
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    return buffer_.to_host();
  }

 private:
  GuardedBuffer<T> buffer_;
};

}  // namespace zerorun::test
