// Grid sizes from 64-bit amounts of work, and launches that follow each other closely.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace zerorun {

/// CTAs that fill any GPU of today several times over, for kernels whose amount of work only the
/// device knows: with more of them most would find nothing to do.
inline constexpr std::int64_t kManyCtas = 4096;

/// CTAs of a kernel that loops over its work with a grid stride: enough for all of it at once, but
/// never more than `limit` (the default is gridDim.x's own bound).
inline unsigned grid_size(std::int64_t items, std::int64_t per_cta,
                          std::int64_t limit = 0x7FFFFFFF) {
  return static_cast<unsigned>(std::clamp<std::int64_t>((items + per_cta - 1) / per_cta, 1, limit));
}

/// CTAs, threads of each, the shared memory that a kernel asks for by itself, and CTAs in y.
struct LaunchShape {
  unsigned grid, threads;
  std::size_t shared_bytes = 0;
  unsigned grid_y = 1;
};

/// Launches a kernel that begins with wait_for_previous_kernel(): the device then prepares it while
/// the kernel before it in the stream still runs, which saves some microseconds between the two.
/// GPUs before Hopper cannot; there it is a launch as any other.
template <typename... Args>
cudaError_t launch_behind(void (*kernel)(Args...), const LaunchShape& shape, cudaStream_t stream,
                          const Args&... args) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(shape.grid, shape.grid_y);
  config.blockDim = dim3(shape.threads);
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = stream;
  config.attrs = &attribute;
  int device = 0, major = 0;
  if (cudaError_t error = cudaGetDevice(&device); error != cudaSuccess) return error;
  if (cudaError_t error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
      error != cudaSuccess)
    return error;
  config.numAttrs = major >= 9 ? 1 : 0;
  return cudaLaunchKernelEx(&config, kernel, args...);
}

template <typename... Args>
cudaError_t launch_behind(void (*kernel)(Args...), unsigned grid, unsigned threads,
                          cudaStream_t stream, const Args&... args) {
  return launch_behind(kernel, LaunchShape{grid, threads}, stream, args...);
}

#ifdef __CUDACC__
/// Everything that kernels before this one in the stream wrote can be read from here on.
__device__ inline void wait_for_previous_kernel() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}
#endif

}  // namespace zerorun
