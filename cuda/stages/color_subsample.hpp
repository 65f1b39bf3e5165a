// color_subsample for many frames by one kernel.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>

#include "codec/encode/color_subsample.hpp"

namespace zerorun {

/// From the planes of a frame to those of another, in bytes; 8 divides them.
struct PlaneOffsets {
  std::int64_t of[kMaxComponents];
};

/// As color_subsample_cuda() for each of the frames, which have the shape of `args.frame`. The
/// planes of the next frame lie `step` behind those of the one before.
Status color_subsample_frames(const ColorSubsampleArgs& args,
                              std::span<const ConstFrameView> frames, const PlaneOffsets& step,
                              cudaStream_t stream);

}  // namespace zerorun
