// Sums over the threads of a CTA.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "apps/bench/measure/cuda_memory.hpp"

namespace zerorun::rd {

using app::bench::launched;

/// Threads of each CTA that adds up.
inline constexpr int kSumThreads = 256;

/// Adds each value over the CTA's threads, always in the same order, and writes value v to
/// out[v * stride]. All threads of the CTA call it, and once.
template <int kValues>
__device__ void add_up(const double (&mine)[kValues], double* out, std::int64_t stride) {
  constexpr int kWarps = kSumThreads / 32;
  __shared__ double warps[kValues][kWarps];
  const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
  for (int v = 0; v < kValues; ++v) {
    double sum = mine[v];
#pragma unroll
    for (int far = 16; far > 0; far /= 2) sum += __shfl_down_sync(0xFFFFFFFFu, sum, far);
    if (thread % 32 == 0) warps[v][thread / 32] = sum;
  }
  __syncthreads();
  if (thread >= kValues) return;
  double sum = 0;
  for (int w = 0; w < kWarps; ++w) sum += warps[thread][w];
  out[thread * stride] = sum;
}

}  // namespace zerorun::rd
