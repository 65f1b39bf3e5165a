// A kernel that lets the next one begin at once and writes at its end.
// SPDX-License-Identifier: MIT
#include "tests/cuda/base/late_writer.hpp"

#include "cuda/base/launch.hpp"

namespace zerorun::test {
namespace {

constexpr unsigned kThreads = 256;
static_assert(kLateWords % kThreads == 0);

__device__ std::uint64_t now() {
  std::uint64_t nanoseconds;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
  return nanoseconds;
}

__global__ void late_writer_kernel(std::uint32_t* to, std::uint32_t value,
                                   std::uint32_t nanoseconds) {
  let_next_kernel_begin();
  const std::uint64_t begin = now();
  while (now() - begin < nanoseconds) continue;
  to[blockIdx.x * kThreads + threadIdx.x] = value;
}

}  // namespace

cudaError_t write_late(std::uint32_t* to, std::uint32_t value, std::uint32_t nanoseconds,
                       cudaStream_t stream) {
  return launch_alone(late_writer_kernel, {kLateWords / kThreads, kThreads}, stream, to, value,
                      nanoseconds);
}

}  // namespace zerorun::test
