// Entropy-coded bytes -> device memory; planes in device memory -> host memory of any layout.
// SPDX-License-Identifier: MIT
#include "cuda/base/transfers.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace zerorun {

Status ScanUpload::enqueue(std::span<const std::uint8_t> data, cudaStream_t stream,
                           const std::uint8_t*& on_device) {
  ZR_TRY(bytes_.reserve(static_cast<std::int64_t>(data.size())));
  on_device = bytes_.data();
  if (is_pinned_memory(data))
    return ZR_CUDA_STATUS(
        cudaMemcpyAsync(bytes_.data(), data.data(), data.size(), cudaMemcpyHostToDevice, stream));
  ZR_TRY(staging_.reserve(static_cast<std::int64_t>(data.size())));
  for (std::size_t at = 0; at < data.size(); at += kPartBytes) {
    const std::size_t count = std::min(kPartBytes, data.size() - at);
    std::memcpy(staging_.data() + at, data.data() + at, count);
    ZR_CUDA_TRY(cudaMemcpyAsync(bytes_.data() + at, staging_.data() + at, count,
                                cudaMemcpyHostToDevice, stream));
  }
  return Status::ok();
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
