// Host frames -> device memory.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "cuda/base/memory.hpp"
#include "zerorun/frame.hpp"

namespace zerorun {

/// Keeps its memory between frames. The frame uploaded last is valid until the next call.
class FrameUpload {
 public:
  /// Sends the rows without what lies between them; for a grey stream (components 1) plane 0 alone.
  /// The device itself reads pinned memory, until the work enqueued on `stream` has completed;
  /// other memory has been read when the call returns.
  Status enqueue(const ConstFrameView& frame, int components, cudaStream_t stream,
                 ConstFrameView& on_device);

 private:
  struct Plane {
    const std::uint8_t* from;
    std::ptrdiff_t stride;
    std::size_t row_bytes, rows, pitch;
  };
  static bool lie_as_on_device(std::span<const Plane> planes);
  Status send(const Plane& plane, std::uint8_t* to, cudaStream_t stream);
  Status stage(const Plane& plane, std::uint8_t* staging, std::uint8_t* to, cudaStream_t stream);

  PinnedBuffer<std::uint8_t> staging_;
  DeviceBuffer<std::uint8_t> frame_;
};

}  // namespace zerorun
