// A kernel that lets the one behind it begin before it has done anything.
// SPDX-License-Identifier: MIT
#include "tests/cuda/late_word.hpp"

#include "cuda/base/launch.hpp"

namespace zerorun::test {
namespace {

__device__ std::uint64_t now() {
  std::uint64_t time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

__global__ void write_kernel(std::uint32_t* word, std::uint32_t value) {
  let_next_kernel_begin();
  for (const std::uint64_t begin = now(); now() - begin < 2'000'000;) __nanosleep(1000);
  *word = value;
}

}  // namespace

cudaError_t write_late(std::uint32_t* word, std::uint32_t value, cudaStream_t stream) {
  write_kernel<<<1, 1, 0, stream>>>(word, value);
  return cudaGetLastError();
}

}  // namespace zerorun::test
