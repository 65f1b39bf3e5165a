// The frames of a case in device memory.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <vector>

#include "apps/bench/frames/frame_set.hpp"
#include "cuda/base/memory.hpp"

namespace zerorun::app::bench {

/// Between host and device memory; enqueued.
Status copy_frame_async(const ConstFrameView& from, const FrameView& to, cudaStream_t queue);

class DeviceFrames {
 public:
  /// Copies of the first `count` frames on `device`. Rows start on 256 bytes, as cudaMallocPitch
  /// would place them.
  static Result<std::shared_ptr<DeviceFrames>> upload(const FrameSet& set, std::size_t count,
                                                      int device);

  /// Room for one frame at a time, with a view of the shape of each frame of the set over the same
  /// memory.
  static Result<std::shared_ptr<DeviceFrames>> overlaid(const FrameSet& set, int device);

  const FrameView& view(std::size_t i) const { return views_[i]; }
  Status download(std::size_t i, const FrameView& out) const;

 private:
  Status add(const ConstFrameView& frame);

  std::vector<DeviceBuffer<std::uint8_t>> memory_;
  std::vector<FrameView> views_;
};

}  // namespace zerorun::app::bench
