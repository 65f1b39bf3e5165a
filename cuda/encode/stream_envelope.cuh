// Writes what stands in front of a scan.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include "cuda/encode/assemble.hpp"

namespace zerorun::cuda_encode {

/// Copies a frame's header; by the frame's first CTA.
template <int kThreads>
__device__ void copy_header(const StreamEnvelope& stream, const FrameOutput& output,
                            std::uint32_t bytes) {
  const std::uint8_t* const header = stream.header + blockIdx.y * stream.stride;
  for (std::uint32_t i = threadIdx.x; i < bytes; i += kThreads) output.out[i] = header[i];
}

}  // namespace zerorun::cuda_encode
