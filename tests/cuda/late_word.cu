// A kernel that lets the one behind it begin before it has done anything.
// SPDX-License-Identifier: MIT
#include "tests/cuda/late_word.hpp"

#include "cuda/base/launch.hpp"

namespace zerorun::test {
namespace {

constexpr unsigned kThreads = 256;

__device__ std::uint64_t now() {
  std::uint64_t time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

__global__ void write_kernel(std::uint32_t* to, std::uint32_t words, std::uint32_t value,
                             std::uint32_t nanoseconds) {
  let_next_kernel_begin();
  for (const std::uint64_t begin = now(); now() - begin < nanoseconds;) continue;
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i < words) to[i] = value;
}

}  // namespace

cudaError_t write_late(std::uint32_t* to, std::uint32_t words, std::uint32_t value,
                       std::uint32_t nanoseconds, cudaStream_t stream) {
  return launch_alone(write_kernel, {grid_size(words, kThreads), kThreads}, stream, to, words,
                      value, nanoseconds);
}

}  // namespace zerorun::test
