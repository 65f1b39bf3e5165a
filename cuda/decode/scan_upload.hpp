// Entropy-coded bytes -> device memory.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "cuda/base/memory.hpp"

namespace zerorun {

/// The number of bytes up to the first marker other than RSTm, including that marker. More need not
/// be sent to the device: other scans and images may follow.
std::size_t scan_extent(std::span<const std::uint8_t> data);

/// Keeps its memory between scans. The bytes uploaded last are valid until the next call.
class ScanUpload {
 public:
  /// The device reads pinned memory itself, until the work enqueued on `stream` has completed;
  /// other memory has been read when the call returns.
  Status enqueue(std::span<const std::uint8_t> data, cudaStream_t stream,
                 const std::uint8_t*& on_device);

 private:
  PinnedBuffer<std::uint8_t> staging_;
  DeviceBuffer<std::uint8_t> bytes_;
};

}  // namespace zerorun
