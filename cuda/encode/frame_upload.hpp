// Host frames -> device memory.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cuda/base/transfers.hpp"
#include "zerorun/frame.hpp"

namespace zerorun {

/// Keeps its memory between frames. The frame uploaded last is valid until the next call.
class FrameUpload {
 public:
  /// `threads` copy one frame. 0: as many as speed it up; 1: the caller alone, as for small frames.
  /// A piece is what one thread copies at a time, and about the least that one transfer carries; by
  /// default it is chosen for the frame.
  explicit FrameUpload(int threads = 0, std::size_t piece_bytes = 0)
      : threads_(threads), piece_bytes_(piece_bytes) {}

  /// Sends the rows without what lies between them; for a grey stream (components 1) plane 0 alone.
  /// The device itself reads pinned memory, until the work enqueued on `stream` has completed;
  /// other memory has been read when the call returns: while the CPU copies one piece of it to
  /// pinned staging, the pieces before it travel.
  Status enqueue(const ConstFrameView& frame, int components, cudaStream_t stream,
                 ConstFrameView& on_device);

 private:
  struct Plane {
    const std::uint8_t* from;
    std::ptrdiff_t stride;
    std::size_t row_bytes, rows, pitch;
    std::size_t offset;  ///< of the first row, in the device's memory and in staging
    bool pinned;
  };
  static bool lie_as_on_device(std::span<const Plane> planes);
  Status send(const Plane& plane, cudaStream_t stream);
  Status stage(std::span<const Plane> planes, cudaStream_t stream);

  const int threads_;
  const std::size_t piece_bytes_;
  StagedUpload staged_;
  std::vector<CopyPiece> pieces_;
  PinnedBuffer<std::uint8_t> staging_;
  DeviceBuffer<std::uint8_t> frame_;
};

}  // namespace zerorun
