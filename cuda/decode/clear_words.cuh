// Writes zeros for kernels to come, in a kernel that is running anyway.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace zerorun {

/// Called by all threads of the grid.
__device__ inline void clear_words(std::uint64_t* words, std::uint32_t count) {
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
       i += gridDim.x * blockDim.x)
    words[i] = 0;
}

}  // namespace zerorun
