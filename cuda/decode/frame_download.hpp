// Planes in device memory -> host memory of any layout.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cuda/base/memory.hpp"

namespace zerorun {

/// Rows in device memory, and where they go on the host.
struct PlaneCopy {
  const std::uint8_t* from;  ///< device memory
  std::size_t pitch;         ///< bytes from one row to the next there
  std::uint8_t* to;          ///< host memory: the first row
  std::ptrdiff_t stride;     ///< bytes from one row to the next there; may be negative
  std::size_t row_bytes, rows;
};

/// Rows of one plane that are copied to staging memory together.
struct DownloadPiece {
  PlaneCopy rows;
  std::size_t staged;  ///< offset of the first row in the staging memory; no gaps between rows
};

/// Appends pieces of whole rows, each of about `piece_bytes`, that cover the plane. The first one
/// is staged at `staged`, the others follow. Returns where the next plane can be staged.
std::size_t cut_into_pieces(const PlaneCopy& plane, std::size_t piece_bytes, std::size_t staged,
                            std::vector<DownloadPiece>& out);

/// Keeps its memory between frames.
class FrameDownload {
 public:
  /// Copies the planes after the work enqueued on `stream`, and returns when they have arrived. The
  /// device writes to pinned memory itself; for other memory the CPU copies each piece from pinned
  /// staging while the next ones travel. Bytes between the rows stay as they are.
  Status run(std::span<const PlaneCopy> planes, cudaStream_t stream);

 private:
  Status enqueue(std::span<const PlaneCopy> planes, cudaStream_t stream);
  Status copy_staged();

  PinnedBuffer<std::uint8_t> staging_;
  std::vector<DownloadPiece> pieces_;
  std::vector<Event> arrived_;  ///< one a piece
};

}  // namespace zerorun
