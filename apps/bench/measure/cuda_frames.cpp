// Plane by plane, by plain copies.
// SPDX-License-Identifier: MIT
#include "apps/bench/measure/cuda_frames.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace zerorun::app::bench {

static constexpr std::size_t kPitchAlign = 256;

Status copy_frame_async(const ConstFrameView& from, const FrameView& to, cudaStream_t queue) {
  for (int p = 0; p < plane_count(from.format); ++p) {
    const auto plane = static_cast<std::size_t>(p);
    ZR_CUDA_TRY(cudaMemcpy2DAsync(to.data[plane], static_cast<std::size_t>(to.stride_bytes[plane]),
                                  from.data[plane],
                                  static_cast<std::size_t>(from.stride_bytes[plane]),
                                  plane_row_bytes(from.format, p, from.width),
                                  static_cast<std::size_t>(plane_rows(from.format, p, from.height)),
                                  cudaMemcpyDefault, queue));
  }
  return Status::ok();
}

/// From pageable memory too.
static Status copy_frame(const ConstFrameView& from, const FrameView& to) {
  ZR_TRY(copy_frame_async(from, to, nullptr));
  ZR_CUDA_TRY(cudaStreamSynchronize(nullptr));
  return Status::ok();
}

/// Bytes of a plane; sets its stride.
static std::size_t lay_out(FrameView& view, int p) {
  const std::size_t row = plane_row_bytes(view.format, p, view.width);
  const std::size_t pitch = (row + kPitchAlign - 1) / kPitchAlign * kPitchAlign;
  view.stride_bytes[static_cast<std::size_t>(p)] = static_cast<std::ptrdiff_t>(pitch);
  return pitch * static_cast<std::size_t>(plane_rows(view.format, p, view.height));
}

Status DeviceFrames::add(const ConstFrameView& frame) {
  FrameView view{frame.format, frame.width, frame.height, {}, {}};
  for (int p = 0; p < plane_count(view.format); ++p) {
    DeviceBuffer<std::uint8_t> buffer;
    ZR_TRY(buffer.reserve(static_cast<std::int64_t>(lay_out(view, p))));
    view.data[static_cast<std::size_t>(p)] = buffer.data();
    memory_.push_back(std::move(buffer));
  }
  views_.push_back(view);
  return copy_frame(frame, view);
}

Result<std::shared_ptr<DeviceFrames>> DeviceFrames::overlaid(const FrameSet& set, int device) {
  const DeviceGuard guard(device);
  ZR_TRY(guard.status());
  auto frames = std::make_shared<DeviceFrames>();
  std::array<std::size_t, 3> most{};
  for (std::size_t i = 0; i < set.size(); ++i) {
    const ConstFrameView like = set.view(i);
    FrameView view{like.format, like.width, like.height, {}, {}};
    for (int p = 0; p < plane_count(view.format); ++p) {
      std::size_t& bytes = most[static_cast<std::size_t>(p)];
      bytes = std::max(bytes, lay_out(view, p));
    }
    frames->views_.push_back(view);
  }
  for (const std::size_t bytes : most) {
    DeviceBuffer<std::uint8_t> plane;
    ZR_TRY(plane.reserve(static_cast<std::int64_t>(bytes)));
    frames->memory_.push_back(std::move(plane));
  }
  for (FrameView& view : frames->views_)
    for (std::size_t p = 0; p < static_cast<std::size_t>(plane_count(view.format)); ++p)
      view.data[p] = frames->memory_[p].data();
  return frames;
}

Result<std::shared_ptr<DeviceFrames>> DeviceFrames::upload(const FrameSet& set, std::size_t count,
                                                           int device) {
  const DeviceGuard guard(device);
  ZR_TRY(guard.status());
  auto frames = std::make_shared<DeviceFrames>();
  for (std::size_t i = 0; i < std::min(count, set.size()); ++i) ZR_TRY(frames->add(set.view(i)));
  return frames;
}

Status DeviceFrames::download(std::size_t i, const FrameView& out) const {
  return copy_frame(views_[i], out);
}

}  // namespace zerorun::app::bench
