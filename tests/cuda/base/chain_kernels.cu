// Kernels for chains: each shows which others ran before it, and with what.
// SPDX-License-Identifier: MIT
#include "tests/cuda/base/chain_kernels.hpp"

namespace zerorun::test {
namespace {

constexpr unsigned kThreads = 128;

__device__ std::uint64_t nanoseconds() {
  std::uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

/// It takes a while, so that kernels which do not wait for each other run beside each other.
template <std::uint32_t kFactor>
__global__ void multiply_kernel(std::uint32_t* values, std::uint32_t number) {
  let_next_kernel_begin();
  wait_for_previous_kernel();
  const std::uint64_t begin = nanoseconds();
  while (nanoseconds() - begin < 20'000) continue;
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i < kChainValues) values[i] = kFactor * values[i] + number;
}

template <std::uint32_t kFactor>
cudaError_t add(LaunchChain& chain, std::uint32_t* values, std::uint32_t number,
                std::size_t shared_bytes) {
  return chain.add(multiply_kernel<kFactor>,
                   LaunchShape{grid_size(kChainValues, kThreads), kThreads, shared_bytes}, values,
                   number);
}

}  // namespace

cudaError_t add_append(LaunchChain& chain, std::uint32_t* values, std::uint32_t number) {
  return add<3>(chain, values, number, 0);
}

cudaError_t add_insert(LaunchChain& chain, std::uint32_t* values, std::uint32_t number,
                       std::size_t shared_bytes) {
  return add<5>(chain, values, number, shared_bytes);
}

}  // namespace zerorun::test
