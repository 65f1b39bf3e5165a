// Coefficients -> where runs of ends of bands may end. A warp takes the blocks of a tile.
// SPDX-License-Identifier: MIT
#include "cuda/base/check.hpp"
#include "cuda/encode/scan_lane.cuh"

namespace zerorun {
namespace scan_lanes {
namespace {

/// Marks of a refining scan, by a warp.
__device__ TileMarks mark_refinement(const ScriptArgs& a, const ScanLane& lane, std::uint64_t index,
                                     const BandBlock& b) {
  const auto bits = static_cast<std::uint32_t>(b.tail_bits());
  a.tail_bits[index * kTileBlocks + threadIdx.x % 32] = static_cast<std::uint8_t>(bits);
  return {__ballot_sync(kFullWarp, b.breaks_run()),
          __ballot_sync(kFullWarp, lane.exists && b.has_tail()), warp_add(bits), 0};
}

__global__ void __launch_bounds__(kThreads)
    mark_blocks_kernel(const __grid_constant__ ScriptArgs a) {
  wait_for_previous_kernel();
  const std::uint32_t number = last_not_above(a.first_cta, a.count_jobs, blockIdx.x);
  const CountJob& job = a.jobs[number];
  const CodedScan& first = a.plan[job.scan[0]];
  if (first.is_dc()) return;
  const ScanLane lane(first, blockIdx.x - a.first_cta[number]);
  if (!lane.has_tile) return;
  const AcBlock block(a.stored, first, lane);
  // Lane i stores the marks of scan i.
  const int own = static_cast<int>(threadIdx.x % 32);
  const bool has_scan = own < job.scans;
  const CodedScan& own_scan = a.plan[job.scan[has_scan ? own : 0]];
  const std::uint64_t index = lane.index(a, own_scan), band = own_scan.band();
  TileMarks marks{};
  if (first.is_refinement()) {
    marks = mark_refinement(a, lane, index, block.in(first));
  } else {
#pragma unroll
    for (int i = 0; i < CountJob::kBands; ++i) {
      const BandBlock b(__shfl_sync(kFullWarp, band, i), block.now, 0);
      const std::uint32_t breakers = __ballot_sync(kFullWarp, b.breaks_run());
      const std::uint32_t tails = __ballot_sync(kFullWarp, lane.exists && b.has_tail());
      if (own == i) marks.breakers = breakers, marks.tails = tails;
    }
  }
  marks.blocks = static_cast<std::uint32_t>(__popc(__ballot_sync(kFullWarp, lane.exists))) |
                 (lane.ends_interval ? TileMarks::kEndsInterval : 0);
  if (has_scan) a.marks[index] = marks;
}

}  // namespace
}  // namespace scan_lanes

Status mark_blocks(const ScriptArgs& args, cudaStream_t stream) {
  const LaunchShape shape{args.job_ctas, scan_lanes::kThreads, 0, args.frames};
  return ZR_CUDA_STATUS(launch_behind(scan_lanes::mark_blocks_kernel, shape, stream, args));
}

}  // namespace zerorun
