// Entropy-coded bytes -> device memory; planes in device memory -> host memory of any layout.
// SPDX-License-Identifier: MIT
#include "cuda/base/transfers.hpp"

#include <algorithm>
#include <utility>

namespace zerorun {

int helpers_for(int threads, std::size_t bytes, std::size_t piece_bytes) noexcept {
  constexpr std::size_t kMostHelpers = 7;
  const std::size_t most = threads == 0 ? kMostHelpers : static_cast<std::size_t>(threads - 1);
  return static_cast<int>(std::min(most, bytes / piece_bytes));
}

namespace {

/// Sends the pieces from `sent` on to `copied`, but leaves fewer than `least_bytes` to the next
/// call, if there will be one.
Status send_staged(std::span<const CopyPiece> pieces, std::size_t copied, std::size_t least_bytes,
                   const std::uint8_t* staging, std::uint8_t* on_device, cudaStream_t stream,
                   std::size_t& sent) {
  while (sent < copied) {
    const std::uint8_t* const from = pieces[sent].to;
    std::size_t bytes = 0, end = sent;
    for (; end < copied && pieces[end].to == from + bytes; ++end)
      bytes += static_cast<std::size_t>(pieces[end].to_stride) * pieces[end].rows;
    if (bytes < least_bytes && end == copied && copied < pieces.size()) break;
    ZR_CUDA_TRY(
        cudaMemcpyAsync(on_device + (from - staging), from, bytes, cudaMemcpyHostToDevice, stream));
    sent = end;
  }
  return Status::ok();
}

}  // namespace

Status StagedUpload::run(std::span<const CopyPiece> pieces, const std::uint8_t* staging,
                         std::uint8_t* on_device, int helpers, std::size_t least_bytes,
                         cudaStream_t stream) {
  if (helpers > 0 && copy_threads_ == nullptr) copy_threads_ = CopyThreads::shared();
  SharedCopy copy(copy_threads_.get(), helpers, pieces);
  copy.release(pieces.size());
  std::size_t sent = 0, copied = 0;
  while (sent < pieces.size()) {
    if (!copy.copy_one()) copy.wait_for(copied);
    while (copied < pieces.size() && copy.is_copied(copied)) ++copied;
    ZR_TRY(send_staged(pieces, copied, least_bytes, staging, on_device, stream, sent));
  }
  return Status::ok();
}

Status ScanUpload::enqueue(std::span<const std::uint8_t> data, int threads, cudaStream_t stream,
                           const std::uint8_t*& on_device) {
  ZR_TRY(bytes_.reserve(static_cast<std::int64_t>(data.size())));
  on_device = bytes_.data();
  if (is_pinned_memory(data))
    return ZR_CUDA_STATUS(
        cudaMemcpyAsync(bytes_.data(), data.data(), data.size(), cudaMemcpyHostToDevice, stream));
  ZR_TRY(staging_.reserve(static_cast<std::int64_t>(data.size())));
  pieces_.clear();
  for (std::size_t at = 0; at < data.size(); at += kPartBytes) {
    const std::size_t count = std::min(kPartBytes, data.size() - at);
    const auto stride = static_cast<std::ptrdiff_t>(count);
    pieces_.push_back({data.data() + at, stride, staging_.data() + at, stride, count, 1});
  }
  return staged_.run(pieces_, staging_.data(), bytes_.data(),
                     helpers_for(threads == 0 ? kThreads : threads, data.size(), kPartBytes), 1,
                     stream);
}

bool ScanUpload::is_pinned_memory(std::span<const std::uint8_t> data) {
  const auto* const end = data.data() + data.size();
  for (const auto& known : pinned_)
    if (data.data() >= known.data() && end <= known.data() + known.size()) return true;
  if (!is_pinned(data.data()) || !is_pinned(end - 1)) return false;
  pinned_ = {data, pinned_[0]};
  return true;
}

namespace {

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
  return ZR_CUDA_STATUS(cudaMemcpy2DAsync(to, stride, plane.from, plane.pitch, plane.row_bytes,
                                          plane.rows, cudaMemcpyDeviceToHost, stream));
}

}  // namespace

Status FrameDownload::run(std::span<const PlaneCopy> planes, cudaStream_t stream,
                          const StepProbe& probe) {
  Status status = announce(probe, "download");
  if (status) status = enqueue(planes, stream);
  if (status) status = announce(probe, "");
  if (status) status = copy_staged();
  // After an error too: the device writes to the caller's memory until the stream is idle.
  const cudaError_t idle = cudaStreamSynchronize(stream);
  ZR_TRY(status);
  return ZR_CUDA_STATUS(idle);
}

Status FrameDownload::enqueue(std::span<const PlaneCopy> planes, cudaStream_t stream) {
  pieces_.clear();
  if (std::ranges::all_of(planes, device_can_write)) {
    for (const PlaneCopy& plane : planes)
      ZR_TRY(enqueue_copy(plane, plane.to, static_cast<std::size_t>(plane.stride), stream));
    return Status::ok();
  }
  std::size_t bytes = 0;
  for (const PlaneCopy& plane : planes) bytes += plane.row_bytes * plane.rows;
  ZR_TRY(staging_.reserve(static_cast<std::int64_t>(bytes)));
  staged_bytes_ = 0;
  for (const PlaneCopy& plane : planes)
    ZR_TRY(stage(plane, std::max(kPieceBytes, bytes / kMostPieces), stream));
  return Status::ok();
}

Status FrameDownload::stage(PlaneCopy plane, std::size_t piece_bytes, cudaStream_t stream) {
  const auto row_bytes = static_cast<std::ptrdiff_t>(plane.row_bytes);
  std::uint8_t* staging = staging_.data() + staged_bytes_;
  std::size_t i = pieces_.size();
  cut_into_pieces({staging, row_bytes, plane.to, plane.stride, plane.row_bytes, plane.rows},
                  piece_bytes, pieces_);
  staged_bytes_ += plane.row_bytes * plane.rows;
  for (; i < pieces_.size(); ++i) {
    if (i == arrived_.size()) {
      Event event;
      ZR_TRY(event.create(cudaEventDisableTiming));
      arrived_.push_back(std::move(event));
    }
    plane.rows = pieces_[i].rows;
    ZR_TRY(enqueue_copy(plane, staging, plane.row_bytes, stream));
    ZR_CUDA_TRY(cudaEventRecord(arrived_[i].get(), stream));
    plane.from += plane.rows * plane.pitch;
    staging += plane.rows * plane.row_bytes;
  }
  return Status::ok();
}

Status FrameDownload::copy_staged() {
  if (pieces_.empty()) return Status::ok();
  const int helpers = helpers_of(threads_, staged_bytes_);
  if (helpers > 0 && copy_threads_ == nullptr) copy_threads_ = CopyThreads::shared();
  SharedCopy copy(copy_threads_.get(), helpers, pieces_);
  for (std::size_t arrived = 0; arrived < pieces_.size();) {
    cudaError_t state = cudaEventQuery(arrived_[arrived].get());
    if (state == cudaErrorNotReady) {
      // The caller copies what the helpers leave; it should not make arrived pieces wait.
      if (copy.untaken() > static_cast<std::size_t>(helpers) && copy.copy_one()) continue;
      state = cudaEventSynchronize(arrived_[arrived].get());
    }
    ZR_CUDA_TRY(state);
    copy.release(++arrived);
  }
  while (copy.copy_one()) {
  }
  for (std::size_t i = 0; i < pieces_.size(); ++i) copy.wait_for(i);
  return Status::ok();
}

}  // namespace zerorun
