// Entropy-coded bytes -> device memory.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "cuda/base/memory.hpp"

namespace zerorun {

/// Bytes up to and with the first marker that is no RSTm: more need not be sent to the device,
/// since the data may go on with other scans and images.
std::size_t scan_extent(std::span<const std::uint8_t> data);

/// Keeps its memory between scans. The bytes uploaded last are valid until the next call.
class ScanUpload {
 public:
  /// Pinned memory is read by the device itself, until `stream` has got so far; other memory has
  /// been read when the call returns.
  Status enqueue(std::span<const std::uint8_t> data, cudaStream_t stream,
                 const std::uint8_t*& on_device);

 private:
  PinnedBuffer<std::uint8_t> staging_;
  DeviceBuffer<std::uint8_t> bytes_;
};

}  // namespace zerorun
