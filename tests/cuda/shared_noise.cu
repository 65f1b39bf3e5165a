// Noise in shared memory: each processor runs one CTA, which takes all of it.
// SPDX-License-Identifier: MIT
#include "tests/cuda/shared_noise.hpp"

#include <cuda_runtime.h>

namespace zerorun::test {
namespace {

constexpr int kThreads = 256;

extern __shared__ std::uint32_t shared_words[];

__global__ void shared_noise_kernel(std::uint32_t words, std::uint32_t seed) {
  volatile std::uint32_t* const out = shared_words;
  for (std::uint32_t i = threadIdx.x; i < words; i += kThreads) {
    const std::uint32_t mixed = (i + seed) * 0x9E3779B1u;
    out[i] = (mixed ^ mixed >> 15) * 0x85EBCA77u;
  }
}

}  // namespace

cudaError_t fill_shared_memory(std::uint32_t seed) {
  int device = 0, processors = 0, bytes = 0;
  cudaError_t error = cudaGetDevice(&device);
  const auto get = [&](int& value, cudaDeviceAttr attribute) {
    if (error == cudaSuccess) error = cudaDeviceGetAttribute(&value, attribute, device);
  };
  get(processors, cudaDevAttrMultiProcessorCount);
  get(bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin);
  if (error == cudaSuccess)
    error = cudaFuncSetAttribute(shared_noise_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 bytes);
  if (error != cudaSuccess) return error;
  const auto shared = static_cast<std::uint32_t>(bytes);
  shared_noise_kernel<<<static_cast<unsigned>(processors), kThreads, shared>>>(shared / 4, seed);
  error = cudaGetLastError();
  return error != cudaSuccess ? error : cudaDeviceSynchronize();
}

}  // namespace zerorun::test
