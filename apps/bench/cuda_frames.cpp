// Rows start on 256 bytes on the device, as cudaMallocPitch would place them; pinned frames are
// packed, as decoders and capture cards leave them.
// SPDX-License-Identifier: MIT
#include "apps/bench/cuda_frames.hpp"

#include <utility>

namespace zerorun::app::bench {
namespace {

constexpr std::size_t kPitchAlign = 256;

/// Copies the frames into new memory whose rows start on multiples of `align` bytes.
template <typename Buffer>
Status copy_frames(const FrameSet& set, std::size_t align, std::vector<Buffer>& memory,
                   std::vector<ConstFrameView>& views) {
  for (std::size_t i = 0; i < set.size(); ++i) {
    ConstFrameView view = set.view(i);
    for (int p = 0; p < plane_count(view.format); ++p) {
      const auto plane = static_cast<std::size_t>(p);
      const std::size_t row = plane_row_bytes(view.format, p, view.width);
      const std::size_t pitch = (row + align - 1) / align * align;
      const auto rows = static_cast<std::size_t>(plane_rows(view.format, p, view.height));
      Buffer buffer;
      ZR_TRY(buffer.reserve(static_cast<std::int64_t>(pitch * rows)));
      ZR_CUDA_TRY(cudaMemcpy2D(buffer.data(), pitch, view.data[plane],
                               static_cast<std::size_t>(view.stride_bytes[plane]), row, rows,
                               cudaMemcpyDefault));
      view.data[plane] = buffer.data();
      view.stride_bytes[plane] = static_cast<std::ptrdiff_t>(pitch);
      memory.push_back(std::move(buffer));
    }
    views.push_back(view);
  }
  return Status::ok();
}

}  // namespace

Result<std::shared_ptr<DeviceFrames>> DeviceFrames::upload(const FrameSet& set, int device) {
  const DeviceGuard guard(device);
  ZR_TRY(guard.status());
  auto frames = std::make_shared<DeviceFrames>();
  ZR_TRY(copy_frames(set, kPitchAlign, frames->memory_, frames->views_));
  return frames;
}

Result<std::shared_ptr<PinnedFrames>> PinnedFrames::copy_of(const FrameSet& set) {
  auto frames = std::make_shared<PinnedFrames>();
  ZR_TRY(copy_frames(set, 1, frames->memory_, frames->views_));
  return frames;
}

Result<HostMemory> PinnedFrames::with_room(std::size_t stream_bytes,
                                           const std::shared_ptr<PinnedFrames>& self) const {
  struct Owner {
    std::shared_ptr<PinnedFrames> frames;
    PinnedBuffer<std::byte> room;
  };
  auto owner = std::make_shared<Owner>();
  owner->frames = self;
  ZR_TRY(owner->room.reserve(static_cast<std::int64_t>(stream_bytes)));
  return HostMemory{views_, {owner->room.data(), stream_bytes}, owner};
}

}  // namespace zerorun::app::bench
