// Histogram of bytes. Each lane of a warp counts in a memory bank of its own, so that no two lanes
// ever wait for each other. Serial twin: codec/entropy/codebook.cpp.
// SPDX-License-Identifier: MIT
#include "cuda/base/launch.hpp"
#include "cuda/base/check.hpp"
#include "zerorun/cuda_entropy.hpp"

namespace zerorun::cuda_entropy {
namespace {

constexpr int kThreads = 512;
constexpr int kLanes = 32;

/// A counter sees at most 1/32 of its CTA's bytes, so that 32 bits are enough for inputs of 2^40
/// bytes and more.
__global__ void __launch_bounds__(kThreads)
    histogram_kernel(const std::uint8_t* in, std::uint64_t size, unsigned long long* counts) {
  __shared__ unsigned own[kSymbols * kLanes];  // [symbol][lane]
  for (int i = static_cast<int>(threadIdx.x); i < kSymbols * kLanes; i += kThreads) own[i] = 0;
  __syncthreads();

  const unsigned lane = threadIdx.x % kLanes;
  const std::uint64_t first = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  const std::uint64_t step = std::uint64_t{gridDim.x} * kThreads;
  // Bytes before the first 16-byte boundary and after the last one are counted one by one.
  const std::uint64_t to_boundary = (16 - reinterpret_cast<std::uintptr_t>(in) % 16) % 16;
  const std::uint64_t head = to_boundary < size ? to_boundary : size;
  const std::uint64_t vectors = (size - head) / 16;
  const std::uint64_t tail = head + vectors * 16;
  const uint4* const body = reinterpret_cast<const uint4*>(in + head);
  for (std::uint64_t i = first; i < vectors; i += step) {
    const uint4 vector = __ldcs(body + i);
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      const unsigned word = w == 0 ? vector.x : w == 1 ? vector.y : w == 2 ? vector.z : vector.w;
#pragma unroll
      for (int b = 0; b < 4; ++b) atomicAdd(&own[(word >> (8 * b) & 0xFF) * kLanes + lane], 1u);
    }
  }
  if (first < head) atomicAdd(&own[in[first] * kLanes + lane], 1u);
  if (first < size - tail) atomicAdd(&own[in[tail + first] * kLanes + lane], 1u);
  __syncthreads();

  if (threadIdx.x < kSymbols) {
    std::uint64_t sum = 0;
    for (unsigned l = 0; l < kLanes; ++l)  // rotated, so that the lanes stay in different banks
      sum += own[threadIdx.x * kLanes + (l + lane) % kLanes];
    if (sum > 0) atomicAdd(counts + threadIdx.x, static_cast<unsigned long long>(sum));
  }
}

}  // namespace

Status histogram(const std::uint8_t* d_in, std::uint64_t size, std::uint64_t* d_counts,
                 cudaStream_t stream) {
  ZR_CUDA_TRY(cudaMemsetAsync(d_counts, 0, kSymbols * sizeof(std::uint64_t), stream));
  if (size == 0) return Status::ok();
  unsigned grid = 0;
  ZR_CUDA_TRY(persistent_grid(histogram_kernel, kThreads, 0, ceil_div(size, 16 * kThreads), grid));
  ZR_LAUNCH(histogram_kernel, grid, kThreads, stream, d_in, size,
            reinterpret_cast<unsigned long long*>(d_counts));
  return Status::ok();
}

}  // namespace zerorun::cuda_entropy
