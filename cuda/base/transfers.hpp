// Entropy-coded bytes -> device memory; planes in device memory -> host memory of any layout.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "codec/base/copy_threads.hpp"
#include "cuda/base/memory.hpp"
#include "cuda/base/span_clock.hpp"

namespace zerorun {

/// Helpers for `bytes` that are copied in pieces of `piece_bytes`: one for each piece behind the
/// first. `threads` as for helpers_of().
int helpers_for(int threads, std::size_t bytes, std::size_t piece_bytes) noexcept;

/// Memory of the host -> pinned staging -> device memory: while pieces are copied by the caller and
/// its helpers, those before them travel.
class StagedUpload {
 public:
  /// The pieces lead to `staging`, which has the layout of `on_device`, so that one transfer
  /// carries pieces that follow each other: at least `least_bytes`, but for the last one.
  Status run(std::span<const CopyPiece> pieces, const std::uint8_t* staging,
             std::uint8_t* on_device, int helpers, std::size_t least_bytes, cudaStream_t stream);

 private:
  std::shared_ptr<CopyThreads> copy_threads_;
};

/// Entropy-coded bytes -> device memory. Keeps its memory between scans. The bytes uploaded last
/// are valid until the next call.
class ScanUpload {
 public:
  /// What one thread copies at a time, and how many copy. The whole call for a stream of 2.3 MB,
  /// 3840x2160, takes 199 us so, 385 with one thread and 241 with eight (H200, 16 cores).
  static constexpr std::size_t kPartBytes = std::size_t{1} << 17;
  static constexpr int kThreads = 5;

  /// The device reads pinned memory itself, until the work enqueued on `stream` has completed;
  /// other memory has been read when the call returns: `threads` copy it, 0 = up to kThreads.
  Status enqueue(std::span<const std::uint8_t> data, int threads, cudaStream_t stream,
                 const std::uint8_t*& on_device);

 private:
  bool is_pinned_memory(std::span<const std::uint8_t> data);

  StagedUpload staged_;
  std::vector<CopyPiece> pieces_;
  PinnedBuffer<std::uint8_t> staging_;
  DeviceBuffer<std::uint8_t> bytes_;
  /// What was found to be pinned last, because to ask CUDA takes 1 to 30 us beside other threads.
  /// Memory that is not pinned any more is copied more slowly.
  std::array<std::span<const std::uint8_t>, 2> pinned_;
};

/// Rows in device memory, and where they go on the host.
struct PlaneCopy {
  const std::uint8_t* from;  ///< device memory
  std::size_t pitch;         ///< bytes from one row to the next there
  std::uint8_t* to;          ///< host memory: the first row
  std::ptrdiff_t stride;     ///< bytes from one row to the next there; may be negative
  std::size_t row_bytes, rows;
};

/// Planes in device memory -> host memory of any layout. Keeps its memory between frames.
class FrameDownload {
 public:
  /// A piece has an event of its own, and one thread copies it. By 8 threads a 3840x2160 4:2:0
  /// frame takes 413 us in pieces of 256 KiB, 377 in 512 KiB and 497 in 1 MiB (H200, 16 cores).
  static constexpr std::size_t kPieceBytes = std::size_t{1} << 19;

  /// `threads` copy one frame: 0 = as many as helps, 1 = the caller's alone, as for small frames.
  explicit FrameDownload(int threads) : threads_(threads) {}

  /// Copies the planes after the work enqueued on `stream`, and returns when they have arrived. The
  /// device writes to pinned memory itself; otherwise the CPU copies each piece from pinned staging
  /// while the next ones travel. Bytes between rows stay. `probe` gets the step "download".
  Status run(std::span<const PlaneCopy> planes, cudaStream_t stream, const StepProbe& probe = {});

 private:
  Status enqueue(std::span<const PlaneCopy> planes, cudaStream_t stream);
  Status stage(PlaneCopy plane, std::size_t piece_bytes, cudaStream_t stream);
  Status copy_staged();

  const int threads_;
  std::shared_ptr<CopyThreads> copy_threads_;
  PinnedBuffer<std::uint8_t> staging_;
  std::size_t staged_bytes_ = 0;
  std::vector<CopyPiece> pieces_;  ///< from staging to the caller's memory
  std::vector<Event> arrived_;     ///< one a piece
};

}  // namespace zerorun
