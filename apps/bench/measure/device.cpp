// Device frames are copied plane by plane.
// SPDX-License-Identifier: MIT
#include "apps/bench/measure/device.hpp"

#include <algorithm>
#include <utility>

#include "codec/base/place_planes.hpp"

namespace zerorun::app::bench {

static constexpr std::size_t kPitchAlign = 256;

/// Returns when the copy is done, also from and to pageable memory.
static Status copy_frame(const ConstFrameView& from, const FrameView& to) {
  for (int p = 0; p < plane_count(from.format); ++p) {
    const auto plane = static_cast<std::size_t>(p);
    ZR_CUDA_TRY(cudaMemcpy2D(to.data[plane], static_cast<std::size_t>(to.stride_bytes[plane]),
                             from.data[plane], static_cast<std::size_t>(from.stride_bytes[plane]),
                             plane_row_bytes(from.format, p, from.width),
                             static_cast<std::size_t>(plane_rows(from.format, p, from.height)),
                             cudaMemcpyDefault));
  }
  ZR_CUDA_TRY(cudaStreamSynchronize(nullptr));
  return Status::ok();
}

static FrameView shape_of(const ConstFrameView& frame) {
  return {frame.format, frame.width, frame.height, {}, {}};
}

Result<SharedDeviceFrames> DeviceFrames::upload(const FrameSet& set, int device) {
  ZR_CUDA_TRY(cudaSetDevice(device));
  auto frames = std::make_shared<DeviceFrames>();
  for (std::size_t i = 0; i < set.size(); ++i) {
    FrameView& view = frames->views_.emplace_back(shape_of(set.view(i)));
    CudaArray<std::uint8_t>& memory = frames->memory_.emplace_back();
    ZR_TRY(memory.allocate(place_planes(view, nullptr, kPitchAlign), CudaMemory::device));
    place_planes(view, memory.data(), kPitchAlign);
    ZR_TRY(copy_frame(set.view(i), view));
  }
  return frames;
}

Result<SharedDeviceFrames> DeviceFrames::overlaid(const FrameSet& set, int device) {
  ZR_CUDA_TRY(cudaSetDevice(device));
  auto frames = std::make_shared<DeviceFrames>();
  std::size_t most = 0;
  for (std::size_t i = 0; i < set.size(); ++i)
    most = std::max(most, place_planes(frames->views_.emplace_back(shape_of(set.view(i))), nullptr,
                                       kPitchAlign));
  CudaArray<std::uint8_t>& memory = frames->memory_.emplace_back();
  ZR_TRY(memory.allocate(most, CudaMemory::device));
  for (FrameView& view : frames->views_) place_planes(view, memory.data(), kPitchAlign);
  return frames;
}

Status DeviceFrames::download(std::size_t i, const FrameView& out) const {
  return copy_frame(views_[i], out);
}

}  // namespace zerorun::app::bench
