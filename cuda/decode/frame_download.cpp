// Planes in device memory -> host memory of any layout.
// SPDX-License-Identifier: MIT
#include "cuda/decode/frame_download.hpp"

#include <algorithm>
#include <cstring>

namespace zerorun {
namespace {

/// Copying to pageable memory takes longer than the bus, so pieces need not be smaller than this.
constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
/// Each piece has an event, and each event costs about a microsecond.
constexpr std::size_t kMostPieces = 32;

/// Whether one strided copy by the device can write the rows.
bool device_can_write(const PlaneCopy& plane) {
  if (plane.stride < static_cast<std::ptrdiff_t>(plane.row_bytes)) return false;
  const auto last_row = static_cast<std::ptrdiff_t>(plane.rows - 1) * plane.stride;
  return is_pinned(plane.to) && is_pinned(plane.to + last_row + plane.row_bytes - 1);
}

Status enqueue_copy(const PlaneCopy& plane, std::uint8_t* to, std::size_t stride,
                    cudaStream_t stream) {
  ZR_CUDA_TRY(cudaMemcpy2DAsync(to, stride, plane.from, plane.pitch, plane.row_bytes, plane.rows,
                                cudaMemcpyDeviceToHost, stream));
  return Status::ok();
}

}  // namespace

std::size_t cut_into_pieces(const PlaneCopy& plane, std::size_t piece_bytes, std::size_t staged,
                            std::vector<DownloadPiece>& out) {
  const std::size_t most = std::max<std::size_t>(1, piece_bytes / plane.row_bytes);
  for (std::size_t y = 0; y < plane.rows; y += most) {
    PlaneCopy rows = plane;
    rows.from += y * plane.pitch;
    rows.to += static_cast<std::ptrdiff_t>(y) * plane.stride;
    rows.rows = std::min(most, plane.rows - y);
    out.push_back({rows, staged});
    staged += rows.rows * rows.row_bytes;
  }
  return staged;
}

Status FrameDownload::run(std::span<const PlaneCopy> planes, cudaStream_t stream) {
  Status status = enqueue(planes, stream);
  if (status) status = copy_staged();
  // After an error too: the device writes to the caller's memory until the stream is idle.
  const cudaError_t idle = cudaStreamSynchronize(stream);
  ZR_TRY(status);
  ZR_CUDA_TRY(idle);
  return Status::ok();
}

Status FrameDownload::enqueue(std::span<const PlaneCopy> planes, cudaStream_t stream) {
  std::size_t all_bytes = 0, staged = 0;
  for (const PlaneCopy& plane : planes) all_bytes += plane.row_bytes * plane.rows;
  const std::size_t piece_bytes = std::max(kPieceBytes, all_bytes / kMostPieces);
  pieces_.clear();
  for (const PlaneCopy& plane : planes) {
    if (device_can_write(plane))
      ZR_TRY(enqueue_copy(plane, plane.to, static_cast<std::size_t>(plane.stride), stream));
    else
      staged = cut_into_pieces(plane, piece_bytes, staged, pieces_);
  }
  ZR_TRY(staging_.reserve(static_cast<std::int64_t>(staged)));
  while (arrived_.size() < pieces_.size()) {
    Event event;
    ZR_TRY(event.create(cudaEventDisableTiming));
    arrived_.push_back(std::move(event));
  }
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const PlaneCopy& rows = pieces_[i].rows;
    ZR_TRY(enqueue_copy(rows, staging_.data() + pieces_[i].staged, rows.row_bytes, stream));
    ZR_CUDA_TRY(cudaEventRecord(arrived_[i].get(), stream));
  }
  return Status::ok();
}

Status FrameDownload::copy_staged() {
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const PlaneCopy& rows = pieces_[i].rows;
    const std::uint8_t* from = staging_.data() + pieces_[i].staged;
    ZR_CUDA_TRY(cudaEventSynchronize(arrived_[i].get()));
    for (std::size_t y = 0; y < rows.rows; ++y, from += rows.row_bytes)
      std::memcpy(rows.to + static_cast<std::ptrdiff_t>(y) * rows.stride, from, rows.row_bytes);
  }
  return Status::ok();
}

}  // namespace zerorun
