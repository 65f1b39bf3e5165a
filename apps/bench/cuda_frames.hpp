// The frames of a case in device memory and in pinned host memory.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <vector>

#include "apps/bench/frame_set.hpp"
#include "apps/bench/host_encode_lane.hpp"
#include "cuda/memory.hpp"

namespace zerorun::app::bench {

class DeviceFrames {
 public:
  static Result<std::shared_ptr<DeviceFrames>> upload(const FrameSet& set, int device);

  const ConstFrameView& view(std::size_t i) const { return views_[i]; }

 private:
  std::vector<DeviceBuffer<std::uint8_t>> memory_;
  std::vector<ConstFrameView> views_;
};

/// A pinned copy of the frames, and room for a stream.
class PinnedFrames {
 public:
  static Result<std::shared_ptr<PinnedFrames>> copy_of(const FrameSet& set);

  /// The frames, with new pinned room for one stream.
  Result<HostMemory> with_room(std::size_t stream_bytes,
                               const std::shared_ptr<PinnedFrames>& self) const;

 private:
  std::vector<PinnedBuffer<std::uint8_t>> memory_;
  std::vector<ConstFrameView> views_;
};

}  // namespace zerorun::app::bench
