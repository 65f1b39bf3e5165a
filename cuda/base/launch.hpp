// Grid sizes from 64-bit amounts of work, and launches that overlap with the kernel before.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "codec/arith/integer.hpp"

namespace zerorun {

/// CTAs that fill any GPU of today several times over, for kernels whose amount of work only the
/// device knows: most CTAs beyond that number would find nothing to do.
inline constexpr std::int64_t kManyCtas = 4096;

/// What gridDim.x allows.
inline constexpr std::int64_t kMaxGrid = 0x7FFFFFFF;

/// CTAs of a kernel that loops over its work with a grid stride: enough for all of it at once, but
/// never more than `limit`.
inline unsigned grid_size(std::int64_t items, std::int64_t per_cta, std::int64_t limit = kMaxGrid) {
  return static_cast<unsigned>(std::clamp<std::int64_t>(ceil_div(items, per_cta), 1, limit));
}

/// CTAs that fill the current device once, but never more than there is work for.
template <typename Kernel>
cudaError_t persistent_grid(Kernel kernel, int threads, std::size_t shared_bytes,
                            std::uint64_t work, unsigned& grid) {
  int device = 0, processors = 0, per_processor = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  if (error == cudaSuccess)
    error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, kernel, threads,
                                                          shared_bytes);
  const auto most = static_cast<std::uint64_t>(std::max(1, processors * per_processor));
  grid = static_cast<unsigned>(std::clamp<std::uint64_t>(work, 1, most));
  return error;
}

/// CTAs, threads of each, dynamic shared memory, and CTAs in y.
struct LaunchShape {
  unsigned grid, threads;
  std::size_t shared_bytes = 0;
  unsigned grid_y = 1;
};

/// Launches a kernel that begins with wait_for_previous_kernel(). The device prepares it while the
/// kernel before it in the stream still runs, which saves some microseconds between the two. GPUs
/// before Hopper cannot do this; there it is an ordinary launch.
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
/// After this call the kernel can read everything that earlier kernels in the stream wrote.
__device__ inline void wait_for_previous_kernel() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}
#endif

}  // namespace zerorun
