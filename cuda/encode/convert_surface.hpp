// A video decoder's picture in device memory -> a planar frame of JPEG's samples.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include "zerorun/frame.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

/// `out` is a yuv420p frame of the same size in device memory. Gives the samples that
/// codec/arith/sample_terms.hpp defines, as io does for pictures in host memory.
Status convert_surface(const DeviceSurface& surface, const FrameView& out, cudaStream_t stream);

}  // namespace zerorun
