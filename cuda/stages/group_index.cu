// CUDA twin of codec/encode/group_index.cpp. A warp sums up the symbols of a group, which lie one
// after the other.
// SPDX-License-Identifier: MIT
#include "codec/encode/group_index.hpp"

#include "cuda/base/launch.hpp"
#include "cuda/base/scratch.hpp"
#include "cuda/base/symbol_word.cuh"
#include "cuda/base/warp.cuh"

namespace zerorun {
namespace {

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / 32;

__global__ void __launch_bounds__(kThreads) group_index_kernel(GroupIndexArgs a) {
  const std::int64_t groups = group_count(a);
  const auto warp = static_cast<int>(threadIdx.x) / 32;
  const auto lane = threadIdx.x % 32;
  for (std::int64_t g = std::int64_t{blockIdx.x} * kWarps + warp; g < groups;
       g += std::int64_t{gridDim.x} * kWarps) {
    const GroupBlocks group = blocks_of_group(a, g);
    const std::uint32_t end = a.block_first_symbol[group.end];
    std::uint32_t sums = 0;  // pairs in the upper 16 bits, bits in the lower ones
    for (std::uint32_t s = a.block_first_symbol[group.begin] + lane; s < end; s += 32)
      sums += a.code_bits[s] + (is_pair(load_symbol(a.symbols + s)) ? 1u << 16 : 0u);
    sums = warp_add(sums);
    if (lane == 0)
      a.entries[g] = {static_cast<std::uint16_t>(sums), static_cast<std::uint16_t>(sums >> 16)};
  }
}

}  // namespace

Status group_index_cuda(const GroupIndexArgs& a, Exec& exec) {
  if (a.blocks == 0) return Status::ok();
  ZR_LAUNCH(group_index_kernel, grid_size(group_count(a), kWarps), kThreads, stream_of(exec), a);
  return Status::ok();
}

}  // namespace zerorun
