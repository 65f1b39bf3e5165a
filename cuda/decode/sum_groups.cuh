// The entries of a scan's index -> the sum before each group. This needs nothing of the scan
// itself, so a few CTAs of unstuff_scan()'s grid do it at the same time.
// SPDX-License-Identifier: MIT
#pragma once

#include <cub/block/block_scan.cuh>

#include "cuda/base/look_back.cuh"
#include "cuda/decode/group_sums.hpp"
#include "cuda/decode/unstuff_scan.hpp"

namespace zerorun {

/// Entries that a thread sums up.
inline constexpr std::uint32_t kEntriesPerThread = kSumTileGroups / kUnstuffThreads;

/// Called by all threads of a CTA.
__device__ inline void sum_groups(const SumGroupsArgs& a, std::uint32_t tile) {
  using Scan = cub::BlockScan<std::uint64_t, kUnstuffThreads>;
  __shared__ typename Scan::TempStorage temp;
  __shared__ std::uint64_t before_tile;
  const std::uint32_t first = tile * kSumTileGroups + threadIdx.x * kEntriesPerThread;
  std::uint64_t entry[kEntriesPerThread], own = 0, before, all;
#pragma unroll
  for (std::uint32_t i = 0; i < kEntriesPerThread; ++i) {
    entry[i] = first + i < a.groups ? read_entry(a.entries, first + i) : 0;
    own += entry[i];
  }
  Scan(temp).ExclusiveSum(own, before, all);
  if (threadIdx.x < 32) {
    if (threadIdx.x == 0)
      store_relaxed(a.states + tile, (tile == 0 ? kTileInclusive : kTileAggregate) | all);
    std::uint64_t found = 0;
    if (tile > 0) {
      walk_back<2>(a.states, tile, [&](std::uint64_t state, bool counts) {
        if (counts) found += state & kGroupSumMask;
        return false;
      });
      found = warp_sum(found);
      if (threadIdx.x == 0)
        store_relaxed(a.states + tile, kTileInclusive | ((found + all) & kGroupSumMask));
    }
    if (threadIdx.x == 0) before_tile = found;
  }
  __syncthreads();
  before += before_tile;
#pragma unroll
  for (std::uint32_t i = 0; i < kEntriesPerThread; ++i) {
    // The last entry is the sum of all groups.
    if (first + i <= a.groups) a.sums[first + i] = before;
    before += entry[i];
  }
}

}  // namespace zerorun
