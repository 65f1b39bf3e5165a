// Host frames -> device memory.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "codec/arith/host_device.hpp"
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
                 ConstFrameView& on_device) {
    const auto count = static_cast<std::size_t>(components == 1 ? 1 : plane_count(frame.format));
    std::array<Plane, 3> memory{};
    const std::span planes(memory.data(), count);
    std::size_t bytes = 0;
    for (std::size_t p = 0; p < count; ++p) {
      const auto index = static_cast<int>(p);
      const std::size_t row_bytes = plane_row_bytes(frame.format, index, frame.width);
      const auto rows = static_cast<std::size_t>(plane_rows(frame.format, index, frame.height));
      const std::size_t pitch = round_up(row_bytes, kRowAlign);
      const std::uint8_t* const last_row =
          frame.data[p] + static_cast<std::ptrdiff_t>(rows - 1) * frame.stride_bytes[p];
      const bool pinned = frame.stride_bytes[p] > 0 && is_pinned(frame.data[p]) &&
                          is_pinned(last_row + row_bytes - 1);
      planes[p] = {frame.data[p], frame.stride_bytes[p], row_bytes, rows, pitch, bytes, pinned};
      bytes += pitch * rows;
    }
    ZR_TRY(frame_.reserve(static_cast<std::int64_t>(bytes)));
    on_device = {frame.format, frame.width, frame.height, {}, {}};
    for (std::size_t p = 0; p < count; ++p) {
      on_device.data[p] = frame_.data() + planes[p].offset;
      on_device.stride_bytes[p] = static_cast<std::ptrdiff_t>(planes[p].pitch);
    }
    if (lie_as_on_device(planes)) {
      return ZR_CUDA_STATUS(
          cudaMemcpyAsync(frame_.data(), planes[0].from, bytes, cudaMemcpyHostToDevice, stream));
    }
    for (const Plane& plane : planes)
      if (plane.pinned) ZR_TRY(send(plane, stream));
    return stage(planes, stream);
  }

 private:
  struct Plane {
    const std::uint8_t* from;
    std::ptrdiff_t stride;
    std::size_t row_bytes, rows, pitch;
    std::size_t offset;  ///< of the first row, in the device's memory and in staging
    bool pinned;
  };

  /// Pieces of a frame, each of kLeastPiece to kMostPiece bytes. By 8 threads a frame of 12.4 MB
  /// takes 613 us in pieces of 256 KiB, 566 in 512 KiB and 563 in 1 MiB; one of 3.1 MB 183 in 64
  /// KiB, 199 in 256 KiB and 256 in 1 MiB (H200).
  static constexpr std::size_t kPieces = 24;
  static constexpr std::size_t kLeastPiece = std::size_t{1} << 17,
                               kMostPiece = std::size_t{1} << 19;
  /// Rows on the device start at whole sectors.
  static constexpr std::size_t kRowAlign = 128;

  /// Whether one copy by the device can carry all planes, since each copy takes microseconds to
  /// start.
  static bool lie_as_on_device(std::span<const Plane> planes) {
    return std::ranges::all_of(planes, [&](const Plane& plane) {
      return plane.pinned && plane.stride == static_cast<std::ptrdiff_t>(plane.pitch) &&
             plane.row_bytes == plane.pitch && plane.from == planes[0].from + plane.offset;
    });
  }

  Status send(const Plane& plane, cudaStream_t stream) {
    return ZR_CUDA_STATUS(cudaMemcpy2DAsync(frame_.data() + plane.offset, plane.pitch, plane.from,
                                            static_cast<std::size_t>(plane.stride), plane.row_bytes,
                                            plane.rows, cudaMemcpyHostToDevice, stream));
  }

  Status stage(std::span<const Plane> planes, cudaStream_t stream) {
    std::size_t room = 0, bytes = 0;
    for (const Plane& plane : planes) {
      room = plane.offset + plane.pitch * plane.rows;
      if (!plane.pinned) bytes += plane.pitch * plane.rows;
    }
    if (bytes == 0) return Status::ok();
    ZR_TRY(staging_.reserve(static_cast<std::int64_t>(room)));
    const std::size_t piece_bytes =
        piece_bytes_ > 0 ? piece_bytes_ : std::clamp(bytes / kPieces, kLeastPiece, kMostPiece);
    pieces_.clear();
    for (const Plane& plane : planes)
      if (!plane.pinned)
        cut_into_pieces({plane.from, plane.stride, staging_.data() + plane.offset,
                         static_cast<std::ptrdiff_t>(plane.pitch), plane.row_bytes, plane.rows},
                        piece_bytes, pieces_);
    return staged_.run(pieces_, staging_.data(), frame_.data(), helpers_of(threads_, bytes),
                       piece_bytes / 2, stream);
  }

  const int threads_;
  const std::size_t piece_bytes_;
  StagedUpload staged_;
  std::vector<CopyPiece> pieces_;
  PinnedBuffer<std::uint8_t> staging_;
  DeviceBuffer<std::uint8_t> frame_;
};

}  // namespace zerorun
