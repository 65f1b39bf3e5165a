// Coefficients -> where runs of ends of bands may end. A warp takes the blocks of a tile.
// SPDX-License-Identifier: MIT
#include "cuda/base/check.hpp"
#include "cuda/encode/scan_lane.cuh"

namespace zerorun {
namespace scan_lanes {
namespace {

__global__ void __launch_bounds__(kThreads)
    mark_blocks_kernel(const __grid_constant__ ScriptArgs a) {
  wait_for_previous_kernel();
  const std::uint32_t number = last_not_above(a.first_cta, a.scans, blockIdx.x);
  const ScanPlan& scan = a.plan[number];
  if (scan.is_dc()) return;
  const ScanLane lane(a, scan, blockIdx.x - a.first_cta[number]);
  if (!lane.has_tile) return;
  std::uint32_t block = 0;
  const BandBlock b = band_block(a.stored, scan, lane, block);
  const auto bits = static_cast<std::uint32_t>(b.tail_bits());
  const std::uint64_t own = lane.index * kTileBlocks + threadIdx.x % 32;
  a.tail_bits[own] = static_cast<std::uint8_t>(bits);
  a.runs[own] = 0;
  const std::uint32_t breakers = __ballot_sync(kFullWarp, b.breaks_run());
  const std::uint32_t tails = __ballot_sync(kFullWarp, lane.exists && b.has_tail());
  const std::uint32_t exist = __ballot_sync(kFullWarp, lane.exists);
  const std::uint32_t sum = warp_add(bits);
  if (threadIdx.x % 32 == 0)
    a.marks[lane.index] = {breakers, tails, sum,
                           static_cast<std::uint32_t>(__popc(exist)) |
                               (lane.ends_interval ? TileMarks::kEndsInterval : 0)};
}

}  // namespace
}  // namespace scan_lanes

Status mark_blocks(const ScriptArgs& args, cudaStream_t stream) {
  const LaunchShape shape{args.ctas, scan_lanes::kThreads, 0, args.frames};
  return ZR_CUDA_STATUS(launch_behind(scan_lanes::mark_blocks_kernel, shape, stream, args));
}

}  // namespace zerorun
