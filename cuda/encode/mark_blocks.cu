// Coefficients -> where runs of ends of bands may end. A warp takes the blocks of a tile.
// SPDX-License-Identifier: MIT
#include "cuda/base/check.hpp"
#include "cuda/encode/scan_lane.cuh"

namespace zerorun {
namespace scan_lanes {
namespace {

/// By a warp; `index`: of the tile.
__device__ void mark_tile(const ScriptArgs& a, const ScanLane& lane, std::uint64_t index,
                          const BandBlock& b, bool is_refinement) {
  const std::uint64_t own = index * kTileBlocks + threadIdx.x % 32;
  a.runs[own] = 0;
  std::uint32_t sum = 0;
  if (is_refinement) {
    const auto bits = static_cast<std::uint32_t>(b.tail_bits());
    a.tail_bits[own] = static_cast<std::uint8_t>(bits);
    sum = warp_add(bits);
  }
  const std::uint32_t breakers = __ballot_sync(kFullWarp, b.breaks_run());
  const std::uint32_t tails = __ballot_sync(kFullWarp, lane.exists && b.has_tail());
  const auto blocks = static_cast<std::uint32_t>(__popc(__ballot_sync(kFullWarp, lane.exists)));
  if (threadIdx.x % 32 == 0)
    a.marks[index] = {breakers, tails, sum,
                      blocks | (lane.ends_interval ? TileMarks::kEndsInterval : 0)};
}

__global__ void __launch_bounds__(kThreads)
    mark_blocks_kernel(const __grid_constant__ ScriptArgs a) {
  wait_for_previous_kernel();
  const std::uint32_t number = last_not_above(a.first_cta, a.count_jobs, blockIdx.x);
  const CountJob& job = a.jobs[number];
  const ScanPlan& first = a.plan[job.scan[0]];
  if (first.is_dc()) return;
  const ScanLane lane(first, blockIdx.x - a.first_cta[number]);
  if (!lane.has_tile) return;
  const AcBlock block(a.stored, first, lane);
#pragma unroll 1
  for (int i = 0; i < job.scans; ++i) {
    const ScanPlan& scan = a.plan[job.scan[i]];
    mark_tile(a, lane, lane.index(a, scan), block.in(scan), scan.is_refinement());
  }
}

}  // namespace
}  // namespace scan_lanes

Status mark_blocks(const ScriptArgs& args, cudaStream_t stream) {
  const LaunchShape shape{args.job_ctas, scan_lanes::kThreads, 0, args.frames};
  return ZR_CUDA_STATUS(launch_behind(scan_lanes::mark_blocks_kernel, shape, stream, args));
}

}  // namespace zerorun
