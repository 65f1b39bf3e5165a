// Where runs of ends of bands begin and how long they are (T.81 G.1.2.2), and how often each symbol
// comes. A run begins with a block that ends with zeros and does not continue another one. The warp
// that has this block in its tile walks over the next ones, up to a block with symbols of its own.
// A first kernel marks the blocks where runs may end; a warp takes the blocks of a tile.
// SPDX-License-Identifier: MIT
#include "cuda/base/device_limits.hpp"
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

struct Shared {
  JobCounts counts;
  std::uint32_t corrections;
};

/// Counts in a row, and with add() in the rows behind it.
struct CountSink {
  static constexpr bool kReadsValues = false;
  std::uint32_t* row;

  __device__ void select(int slot) { row += 256 * slot; }
  __device__ void symbol(int rrrrssss, std::uint32_t, int) { atomicAdd(row + rrrrssss, 1u); }
  __device__ void bits(std::uint32_t, int) {}
  __device__ void add(int number, int rrrrssss, std::uint32_t times) {
    atomicAdd(row + 256 * number + rrrrssss, times);
  }
};

/// Counts ends of bands alone: as symbols, or by their kind.
struct EndSink {
  std::uint32_t* counts;
  int shift;

  __device__ void symbol(int rrrrssss, std::uint32_t, int) {
    atomicAdd(counts + (rrrrssss >> shift), 1u);
  }
};

/// Of `blocks` blocks, the first of which is number `first` in arrays of blocks of tiles.
__device__ void store_run(const ScriptArgs& a, std::uint64_t first, int blocks, EndSink counts) {
  a.runs[first] = static_cast<std::uint16_t>(blocks);
  emit_eob_run(blocks, counts);
}

__device__ TileMarks load_marks(const ScriptArgs& a, std::uint64_t tile) {
  const uint4 word = *reinterpret_cast<const uint4*>(a.marks + tile);
  return {word.x, word.y, word.z, word.w};
}

/// The run that a warp walks along. All lanes have the same.
class Run {
 public:
  __device__ Run(const ScriptArgs& a, EndSink counts) : a_(a), counts_(counts) {}

  /// Takes the chain of blocks that ends bands from block `from` of the tile `tile` on, of which
  /// the warp has the marks. `runs` of blocks that begin a run are stored.
  __device__ void walk(std::uint64_t tile, TileMarks marks, int from) {
    first_ = tile * kTileBlocks + static_cast<unsigned>(from);
    blocks_ = bits_ = 0;
    // The block that begins the chain may have symbols of its own.
    marks.breakers &= ~((2u << from) - 1);
#pragma unroll 1
    while (!walk_tile(tile, marks, from)) {
      from = 0;
      tile = skip_tiles(tile + 1);
      marks = load_marks(a_, tile);
    }
    end_run();
  }

 private:
  static __device__ unsigned lane() { return threadIdx.x % 32; }

  /// Takes the blocks of a tile from `from` on. Returns whether the chain ends in it.
  __device__ bool walk_tile(std::uint64_t tile, const TileMarks& marks, int from);

  /// Passes the tiles, of 32 at a time, that the run takes as a whole.
  __device__ std::uint64_t skip_tiles(std::uint64_t tile) {
#pragma unroll 1
    for (;;) {
      // Behind the last tile of all there is none; before that, the interval ends.
      const bool is_there = tile + lane() < std::uint64_t{a_.frames} * a_.tiles;
      TileMarks marks{};
      if (is_there) marks = load_marks(a_, tile + lane());
      const std::uint32_t up_to = warp_inclusive_sum(marks.tail_bits);
      const unsigned stop =
          __ballot_sync(kFullWarp, marks.breakers != 0 || marks.blocks != kTileBlocks ||
                                       blocks_ + (lane() + 1) * kTileBlocks >= kMostEobRun ||
                                       bits_ + up_to > kMostRunBits);
      const unsigned passed =
          stop != 0 ? static_cast<unsigned>(__ffs(static_cast<int>(stop))) - 1 : 32;
      blocks_ += passed * kTileBlocks;
      if (passed > 0) bits_ += __shfl_sync(kFullWarp, up_to, static_cast<int>(passed) - 1);
      tile += passed;
      if (stop != 0) return tile;
    }
  }

  /// Stores the run, if it has any blocks.
  __device__ void end_run() {
    if (blocks_ > 0 && lane() == 0) store_run(a_, first_, static_cast<int>(blocks_), counts_);
    blocks_ = bits_ = 0;
  }

  const ScriptArgs& a_;
  EndSink counts_;
  std::uint64_t first_ = 0;              ///< its first block in arrays of blocks of tiles
  std::uint32_t blocks_ = 0, bits_ = 0;  ///< so far
};

__device__ bool Run::walk_tile(std::uint64_t tile, const TileMarks& marks, int from) {
  const auto own_lane = static_cast<int>(lane());
  const auto tile_blocks = static_cast<int>(marks.blocks & ~TileMarks::kEndsInterval);
  const int end = marks.breakers != 0 ? __ffs(static_cast<int>(marks.breakers)) - 1 : tile_blocks;
  const bool is_own = own_lane >= from && own_lane < end;
  std::uint32_t own = 0;
  if (is_own && marks.tail_bits != 0) own = a_.tail_bits[tile * kTileBlocks + lane()];
  const std::uint32_t up_to = warp_inclusive_sum(own);
  std::uint32_t before = 0;  // bits of the tile in earlier runs
#pragma unroll 1
  for (;;) {
    const auto here = static_cast<std::uint32_t>(own_lane - from + 1);
    const bool is_full = blocks_ + here == kMostEobRun || bits_ + (up_to - before) > kMostRunBits;
    const unsigned full = __ballot_sync(kFullWarp, is_own && own_lane >= from && is_full);
    if (full == 0) break;
    const int last = __ffs(static_cast<int>(full)) - 1;
    blocks_ += static_cast<std::uint32_t>(last - from + 1);
    end_run();
    before = __shfl_sync(kFullWarp, up_to, last);
    from = last + 1;
    first_ = tile * kTileBlocks + static_cast<unsigned>(from);
  }
  if (from < end) {
    blocks_ += static_cast<std::uint32_t>(end - from);
    bits_ += __shfl_sync(kFullWarp, up_to, 31) - before;
  } else if (blocks_ == 0) {
    first_ = (tile + 1) * kTileBlocks;
  }
  return marks.breakers != 0 || (marks.blocks & TileMarks::kEndsInterval) != 0;
}

/// What a lane knows about a scan of the warp's tile.
struct TileRuns {
  std::uint64_t index;  ///< of the tile
  TileMarks marks;
  std::uint32_t firsts;  ///< blocks with which a chain begins that ends bands

  __device__ TileRuns(const ScriptArgs& a, const ScanLane& lane, const CodedScan& scan)
      : index(lane.index(a, scan)), marks(load_marks(a, index)) {
    // Blocks behind one that has symbols and ends no band do not continue a chain.
    std::uint32_t apart = (marks.breakers & ~marks.tails) << 1;
    if (lane.starts_interval) {
      apart |= 1;
    } else {
      const TileMarks before = load_marks(a, index - 1);
      apart |= (before.breakers & ~before.tails) >> 31;
    }
    firsts = marks.tails & (marks.breakers | apart);
  }
  __device__ bool ends_interval() const { return marks.blocks >= TileMarks::kEndsInterval; }
};

/// Finds the runs that begin in the warp's tile, of a scan that refines.
__device__ void find_refining_runs(const ScriptArgs& a, const TileRuns& tile, EndSink counts) {
  // Chains that end in the tile and need no cut are runs.
  const TileMarks& marks = tile.marks;
  const std::uint32_t own_lane = threadIdx.x % 32;
  const std::uint32_t behind = marks.breakers & ~((2u << own_lane) - 1);
  const int blocks = static_cast<int>(marks.blocks % TileMarks::kEndsInterval);
  const int end = behind != 0 ? __ffs(static_cast<int>(behind)) - 1 : blocks;
  const bool is_first = (tile.firsts >> own_lane & 1) != 0;
  const bool is_short = is_first && (behind != 0 || tile.ends_interval()) &&
                        marks.tail_bits <= static_cast<std::uint32_t>(kMostRunBits);
  if (is_short)
    store_run(a, tile.index * kTileBlocks + own_lane, end - static_cast<int>(own_lane), counts);
  Run run(a, counts);
#pragma unroll 1
  for (unsigned left = __ballot_sync(kFullWarp, is_first && !is_short); left != 0; left &= left - 1)
    run.walk(tile.index, marks, __ffs(static_cast<int>(left)) - 1);
}

/// The same of all first scans of a job: lane i has the `tile` of scan i. Most chains end in the
/// next tiles, where each lane seeks the end of its own one.
__device__ void find_first_runs(const ScriptArgs& a, int scans, const TileRuns& tile,
                                std::uint32_t* ends) {
  const auto own_lane = static_cast<int>(threadIdx.x % 32);
  const bool ends_interval = tile.ends_interval();
  const auto blocks = static_cast<int>(tile.marks.blocks % TileMarks::kEndsInterval);
#pragma unroll 1
  for (int i = 0; i < scans; ++i) {
    const std::uint32_t breakers = __shfl_sync(kFullWarp, tile.marks.breakers, i);
    const std::uint32_t firsts = __shfl_sync(kFullWarp, tile.firsts, i);
    const std::uint64_t index = __shfl_sync(kFullWarp, tile.index, i);
    const std::uint32_t behind = breakers & ~((2u << own_lane) - 1);
    if ((firsts >> own_lane & 1) == 0 || (behind == 0 && !ends_interval)) continue;
    const int end = behind != 0 ? __ffs(static_cast<int>(behind)) - 1 : blocks;
    store_run(a, index * kTileBlocks + static_cast<unsigned>(own_lane), end - own_lane,
              {ends + 16 * i, 4});
  }
  __syncwarp();
  // The chain that goes on behind the tile: the last one, with no breaker behind its first block.
  bool goes_on = own_lane < scans && !ends_interval && tile.firsts != 0;
  int from = 0;
  if (goes_on) {
    from = 31 - __clz(static_cast<int>(tile.firsts));
    goes_on = (tile.marks.breakers & ~((2u << from) - 1)) == 0;
  }
  constexpr int kNear = 16;
  int length = kTileBlocks - from;
  bool is_open = goes_on;
#pragma unroll 1
  for (unsigned next = 1; next <= kNear && __any_sync(kFullWarp, is_open); ++next) {
    if (!is_open) continue;
    const TileMarks marks = load_marks(a, tile.index + next);
    if (marks.breakers != 0) {
      length += __ffs(static_cast<int>(marks.breakers)) - 1;
      is_open = false;
    } else {
      length += static_cast<int>(marks.blocks % TileMarks::kEndsInterval);
      is_open = marks.blocks < TileMarks::kEndsInterval;
    }
  }
  if (goes_on && !is_open)
    store_run(a, tile.index * kTileBlocks + static_cast<unsigned>(from), length,
              {ends + 16 * own_lane, 4});
#pragma unroll 1
  for (unsigned left = __ballot_sync(kFullWarp, is_open); left != 0; left &= left - 1) {
    const int i = __ffs(static_cast<int>(left)) - 1;
    TileMarks marks = tile.marks;
    marks.breakers = __shfl_sync(kFullWarp, marks.breakers, i);
    Run run(a, {ends + 16 * i, 4});
    run.walk(__shfl_sync(kFullWarp, tile.index, i), marks, __shfl_sync(kFullWarp, from, i));
  }
}

/// Counts the blocks of a tile of AC.
__device__ void count_ac(const ScriptArgs& a, Shared& s, const CountJob& job,
                         const CodedScan& first, const ScanLane& lane) {
  const AcBlock block(a.stored, first, lane);
  CountSink counts{s.counts.row[0]};
  if (first.is_refinement()) {
    const BandBlock b = block.in(first);
    walk_refining_scan(b, first.ss, first.al, nullptr, counts);
    __syncwarp();
    const std::uint32_t corrections = warp_add(static_cast<std::uint32_t>(count_bits(b.old)));
    if (threadIdx.x % 32 == 0 && corrections != 0) atomicAdd(&s.corrections, corrections);
    find_refining_runs(a, TileRuns(a, lane, first), {counts.row, 0});
    return;
  }
  LevelWalk(block.now, first.al, ac_of_block(a.stored, block.number), counts).count();
  __syncwarp();
  const unsigned own = threadIdx.x % 32;
  const TileRuns tile(a, lane, a.plan[job.scan[own < job.scans ? own : 0]]);
  find_first_runs(a, job.scans, tile, s.counts.row[JobCounts::kEndsRow]);
}

__global__ void __launch_bounds__(kThreads, bounded_ctas(kCountScansCtas, kThreads, sizeof(Shared)))
    count_scans_kernel(const __grid_constant__ ScriptArgs a) {
  __shared__ Shared s;
  constexpr unsigned kCounts = sizeof s.counts / sizeof(std::uint32_t);
  for (unsigned i = threadIdx.x; i < kCounts; i += kThreads) s.counts.row[i / 256][i % 256] = 0;
  if (threadIdx.x == 0) s.corrections = 0;
  __syncthreads();
  wait_for_previous_kernel();
  const std::uint32_t number = last_not_above(a.first_cta, a.count_jobs, blockIdx.x);
  const CountJob& job = a.jobs[number];
  const CodedScan& first = a.plan[job.scan[0]];
  const ScanLane lane(first, blockIdx.x - a.first_cta[number]);
  if (lane.has_tile) {
    if (first.is_dc()) {
      CountSink counts{s.counts.row[0]};
      walk_dc(a.stored, first, lane, counts);
    } else {
      count_ac(a, s, job, first, lane);
    }
  }
  __syncthreads();
  JobCounts& out = a.counts[std::uint64_t{blockIdx.y} * a.count_jobs + number];
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < kCounts; i += kThreads) {
    const std::uint32_t count = s.counts.row[i / 256][i % 256];
    if (count != 0) atomicAdd(&out.row[i / 256][i % 256], count);
  }
  if (threadIdx.x == 0 && s.corrections != 0)
    atomicAdd(a.corrections + std::uint64_t{blockIdx.y} * a.scans + job.scan[0], s.corrections);
}

}  // namespace
}  // namespace scan_lanes

Status mark_blocks(const ScriptArgs& args, cudaStream_t stream) {
  const LaunchShape shape{args.job_ctas, scan_lanes::kThreads, 0, args.frames};
  return ZR_CUDA_STATUS(launch_behind(scan_lanes::mark_blocks_kernel, shape, stream, args));
}

Status count_scans(const ScriptArgs& args, cudaStream_t stream) {
  const LaunchShape shape{args.job_ctas, scan_lanes::kThreads, 0, args.frames};
  return ZR_CUDA_STATUS(launch_behind(scan_lanes::count_scans_kernel, shape, stream, args));
}

}  // namespace zerorun
