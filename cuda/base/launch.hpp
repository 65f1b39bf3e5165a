// Grid sizes from 64-bit amounts of work, and launches that overlap with the kernel before.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "codec/arith/host_device.hpp"
#include "cuda/base/check.hpp"
#include "cuda/base/this_device.hpp"

namespace zerorun {

/// CTAs that fill any GPU of today several times over, for kernels whose amount of work only the
/// device knows.
inline constexpr std::int64_t kManyCtas = 4096;

/// The most CTAs in gridDim.x.
inline constexpr std::int64_t kMaxGrid = 0x7FFFFFFF;

/// CTAs for all of the work at once, but never more than `limit`.
inline unsigned grid_size(std::int64_t items, std::int64_t per_cta, std::int64_t limit = kMaxGrid) {
  return static_cast<unsigned>(std::clamp<std::int64_t>(ceil_div(items, per_cta), 1, limit));
}

/// CTAs that fill the current device once, but never more than there is work for.
template <typename Kernel>
cudaError_t persistent_grid(Kernel kernel, int threads, std::size_t shared_bytes,
                            std::uint64_t work, unsigned& grid) {
  const DeviceLimits* limits = nullptr;
  if (cudaError_t error = current_device(limits); error != cudaSuccess) return error;
  int per_processor = 0;
  const cudaError_t error =
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, kernel, threads, shared_bytes);
  const auto held = static_cast<std::uint64_t>(std::max(1, per_processor));
  grid = static_cast<unsigned>(std::clamp<std::uint64_t>(work, 1, limits->processors * held));
  return error;
}

/// CTAs, threads of each, dynamic shared memory, and CTAs in y.
struct LaunchShape {
  unsigned grid, threads;
  std::size_t shared_bytes = 0;
  unsigned grid_y = 1;
};

/// Points to `attribute`, which has to be there until the launch.
inline cudaLaunchConfig_t config_of(const LaunchShape& shape, cudaStream_t stream,
                                    cudaLaunchAttribute& attribute, unsigned attributes) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(shape.grid, shape.grid_y);
  config.blockDim = dim3(shape.threads);
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = attributes;
  return config;
}

template <typename... Args>
cudaError_t launch_with(cudaLaunchAttribute attribute, unsigned attributes, void (*kernel)(Args...),
                        const LaunchShape& shape, cudaStream_t stream, const Args&... args) {
  const cudaLaunchConfig_t config = config_of(shape, stream, attribute, attributes);
  return cudaLaunchKernelEx(&config, kernel, args...);
}

template <typename... Args>
cudaError_t launch_alone(void (*kernel)(Args...), const LaunchShape& shape, cudaStream_t stream,
                         const Args&... args) {
  return launch_with({}, 0, kernel, shape, stream, args...);
}

/// Launches a kernel whose CTAs wait for each other: all of them run at once. `shape.grid` comes
/// from persistent_grid().
template <typename... Args>
cudaError_t launch_together(void (*kernel)(Args...), const LaunchShape& shape, cudaStream_t stream,
                            const Args&... args) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  return launch_with(attribute, 1, kernel, shape, stream, args...);
}

inline cudaLaunchAttribute behind_attribute() {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  return attribute;
}

/// Launches a kernel that begins with wait_for_previous_kernel(). The device prepares it while the
/// one before it in the stream still runs, which saves some microseconds. Before Hopper it is an
/// ordinary launch.
template <typename... Args>
cudaError_t launch_behind(void (*kernel)(Args...), const LaunchShape& shape, cudaStream_t stream,
                          const Args&... args) {
  const DeviceLimits* limits = nullptr;
  if (cudaError_t error = current_device(limits); error != cudaSuccess) return error;
  const unsigned attributes = limits->programmatic_launches ? 1 : 0;
  return launch_with(behind_attribute(), attributes, kernel, shape, stream, args...);
}

#ifdef __CUDACC__
/// The thread's number in the grid, and how many there are.
__device__ inline std::int64_t grid_thread() {
  return std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
__device__ inline std::int64_t grid_threads() { return std::int64_t{gridDim.x} * blockDim.x; }

/// After this call the kernel can read everything that earlier kernels in the stream wrote.
__device__ inline void wait_for_previous_kernel() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

/// The kernel that is launched behind this one may begin as soon as all CTAs have called this, or
/// have ended. What this kernel writes it has only behind wait_for_previous_kernel().
__device__ inline void let_next_kernel_begin() {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/// Whether an earlier kernel found that this one has nothing to do.
__device__ inline bool is_skipped(const std::uint32_t* skip) {
  std::uint32_t found = 0;
  if (skip != nullptr) found = *skip;
  asm("" : "+r"(found));  // else the compiler makes a boolean of it first, which takes four more
  return found != 0;
}
#endif

}  // namespace zerorun
