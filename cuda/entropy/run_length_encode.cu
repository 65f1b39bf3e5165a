// Single-pass run-length encode: PARLE's mask, scan, compaction and scatter in one kernel, joined
// by decoupled look-back. Serial twin: codec/entropy/run_length.cpp.
// SPDX-License-Identifier: MIT
#include "cuda/base/look_back.cuh"
#include "cuda/base/launch.hpp"
#include "cuda/entropy/outcome.cuh"

namespace zerorun::cuda_entropy {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kVectors = 4;    // int4 loads of a thread
constexpr int kStep = 32 * 4;  // elements of a warp's load
constexpr int kWarpItems = kVectors * kStep;
constexpr int kTile = kWarps * kWarpItems;  // 4096 elements

struct Args {
  const std::int32_t* in;
  std::uint64_t size;
  std::int32_t* values;
  std::uint32_t* lengths;
  std::uint64_t capacity;
  /// Of each tile. first: status, and the runs that start in it; second: where the last one starts.
  Pair64* states;
  unsigned long long* ticket;
  Outcome* outcome;
};

/// Runs that start before a tile, and where the last of them starts.
struct Before {
  std::uint64_t runs;
  std::uint64_t last_start;
};

struct Shared {
  std::int32_t values[kTile];   // of the tile's runs, in order
  std::uint16_t starts[kTile];  // their first elements, relative to the tile
  unsigned warp_runs[kWarps];
  std::uint64_t tile;
  Before before;
};

/// look_back() for the runs and the last start at once, by one warp. A run starts in tile 0.
__device__ Before look_back_runs(const Pair64* states, std::uint64_t tile) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  Before before{0, 0};
  bool found = false;  // last_start comes from the nearest tile that has one
  for (std::uint64_t end = tile;; end -= 32) {
    const bool exists = end > static_cast<std::uint64_t>(lane);
    Pair64 state{kTileInclusive, 0};
    if (exists) state = load_relaxed(states + end - 1 - lane);
    TileWindow window = window_of(state.first);
    while (!window.ready) {
      if (tile_status(state.first) == 0) state = load_relaxed(states + end - 1 - lane);
      window = window_of(state.first);
    }
    const std::uint64_t runs = state.first & kTileSumMask;
    const unsigned with_start = __ballot_sync(kFullWarp, window.counts(lane) && runs > 0);
    if (!found && with_start != 0) {
      before.last_start =
          __shfl_sync(kFullWarp, state.second, __ffs(static_cast<int>(with_start)) - 1);
      found = true;
    }
    before.runs += warp_add(window.adds(lane) ? static_cast<unsigned>(runs) : 0u);
    if (window.inclusive != 0) {
      before.runs += __shfl_sync(kFullWarp, runs, window.last());
      return before;
    }
  }
}

/// Item k * 4 + j of a thread is element k * kStep + lane * 4 + j of its warp.
union Items {
  int4 vector[kVectors];
  std::int32_t item[kVectors * 4];
};

__device__ void load_items(const Args& a, std::uint64_t warp_begin, int lane, Items& items) {
  const std::int32_t* from = a.in + warp_begin + lane * 4;
  const bool aligned = reinterpret_cast<std::uintptr_t>(a.in) % sizeof(int4) == 0;
  if (aligned && warp_begin + kWarpItems <= a.size) {
#pragma unroll
    for (int k = 0; k < kVectors; ++k)
      items.vector[k] = __ldcs(reinterpret_cast<const int4*>(from + k * kStep));
    return;
  }
#pragma unroll
  for (int k = 0; k < kVectors; ++k)
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const std::uint64_t at = warp_begin + k * kStep + lane * 4 + j;
      items.item[k * 4 + j] = at < a.size ? a.in[at] : 0;
    }
}

/// The mask: bit k * 4 + j is set where item k * 4 + j starts a run.
__device__ unsigned starts_of(const Args& a, std::uint64_t warp_begin, int lane,
                              const Items& items) {
  std::int32_t before_warp = 0;
  if (lane == 0 && warp_begin > 0 && warp_begin < a.size) before_warp = a.in[warp_begin - 1];
  unsigned mask = 0;
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    // Each lane needs the last item of the lane before it, lane 0 that of lane 31 one load earlier.
    const std::int32_t last = items.item[k * 4 + 3];
    const std::int32_t wrapped = k > 0 ? items.item[(k > 0 ? k - 1 : 0) * 4 + 3] : 0;
    std::int32_t previous = __shfl_sync(kFullWarp, lane == 31 ? wrapped : last, (lane + 31) % 32);
    if (k == 0 && lane == 0) previous = before_warp;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const std::int32_t item = items.item[k * 4 + j];
      mask |= static_cast<unsigned>(item != previous) << (k * 4 + j);
      previous = item;
    }
  }
  if (warp_begin + kWarpItems > a.size) {  // nothing starts after the end
#pragma unroll
    for (int k = 0; k < kVectors; ++k)
#pragma unroll
      for (int j = 0; j < 4; ++j)
        if (warp_begin + k * kStep + lane * 4 + j >= a.size) mask &= ~(1u << (k * 4 + j));
  }
  if (warp_begin == 0 && lane == 0 && a.size > 0) mask |= 1;
  return mask;
}

/// Writes the tile's runs, and the length of the run that comes in from before if it ends here.
__device__ void write_runs(const Args& a, const Shared& s, unsigned tile_runs) {
  const std::uint64_t tile_begin = s.tile * kTile;
  for (unsigned i = threadIdx.x; i < tile_runs; i += kThreads) {
    const std::uint64_t run = s.before.runs + i;
    if (run < a.capacity) a.values[run] = s.values[i];
    if (i > 0) {
      if (run - 1 < a.capacity)
        a.lengths[run - 1] = static_cast<std::uint32_t>(s.starts[i] - s.starts[i - 1]);
    } else if (run > 0) {
      const std::uint64_t length = tile_begin + s.starts[0] - s.before.last_start;
      if (run - 1 < a.capacity) a.lengths[run - 1] = static_cast<std::uint32_t>(length);
      if (length >> 32 != 0) report_fault(a.outcome, run - 1, Errc::invalid_argument);
    }
  }
}

/// The length of the last run, the number of runs, and the fault if they do not fit.
__device__ void finish(const Args& a, const Shared& s, unsigned tile_runs) {
  const std::uint64_t runs = s.before.runs + tile_runs;
  const std::uint64_t start =
      tile_runs > 0 ? s.tile * kTile + s.starts[tile_runs - 1] : s.before.last_start;
  const std::uint64_t length = a.size - start;
  if (runs - 1 < a.capacity) a.lengths[runs - 1] = static_cast<std::uint32_t>(length);
  if (length >> 32 != 0) report_fault(a.outcome, runs - 1, Errc::invalid_argument);
  if (runs > a.capacity) report_fault(a.outcome, a.capacity, Errc::output_too_small);
  a.outcome->count = runs;
}

__global__ void __launch_bounds__(kThreads) run_length_encode_kernel(Args a) {
  __shared__ Shared s;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int warp = static_cast<int>(threadIdx.x / 32);
  if (threadIdx.x == 0) s.tile = atomicAdd(a.ticket, 1ull);
  __syncthreads();
  const std::uint64_t tile = s.tile;
  const std::uint64_t warp_begin = tile * kTile + static_cast<std::uint64_t>(warp) * kWarpItems;

  Items items;
  load_items(a, warp_begin, lane, items);
  const unsigned mask = starts_of(a, warp_begin, lane, items);

  // A byte for each load, which has at most 128 starts: one scan ranks all four loads.
  unsigned counts = 0;
#pragma unroll
  for (int k = 0; k < kVectors; ++k) counts |= __popc((mask >> (k * 4)) & 0xF) << (k * 8);
  const unsigned inclusive = warp_inclusive_sum(counts);
  const unsigned totals = __shfl_sync(kFullWarp, inclusive, 31);
  const unsigned ranks = inclusive - counts;
  if (lane == 0)
    s.warp_runs[warp] =
        (totals & 0xFF) + (totals >> 8 & 0xFF) + (totals >> 16 & 0xFF) + (totals >> 24);
  __syncthreads();

  unsigned rank = 0, tile_runs = 0;
#pragma unroll
  for (int w = 0; w < kWarps; ++w) {
    const unsigned runs = s.warp_runs[w];
    if (w < warp) rank += runs;
    tile_runs += runs;
  }

  const std::uint64_t own = tile == 0 ? kTileInclusive : kTileAggregate;
  if (tile_runs == 0 && threadIdx.x == 0) store_relaxed(a.states + tile, Pair64{own, 0});
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    unsigned place = rank + (ranks >> (k * 8) & 0xFF);
    rank += totals >> (k * 8) & 0xFF;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if ((mask >> (k * 4 + j) & 1) == 0) continue;
      const int at = warp * kWarpItems + k * kStep + lane * 4 + j;
      s.values[place] = items.item[k * 4 + j];
      s.starts[place] = static_cast<std::uint16_t>(at);
      ++place;
      if (place == tile_runs)  // the lane with the last start knows what other tiles wait for
        store_relaxed(a.states + tile, Pair64{own | tile_runs, tile * kTile + at});
    }
  }
  __syncthreads();

  if (warp == 0) {
    Before before{0, 0};
    if (tile > 0) before = look_back_runs(a.states, tile);
    if (lane == 0) {
      s.before = before;
      const std::uint64_t last =
          tile_runs > 0 ? tile * kTile + s.starts[tile_runs - 1] : before.last_start;
      if (tile > 0)
        store_relaxed(a.states + tile, Pair64{kTileInclusive | (before.runs + tile_runs), last});
    }
  }
  __syncthreads();
  write_runs(a, s, tile_runs);
  if (threadIdx.x == 0 && (tile + 1) * kTile >= a.size) finish(a, s, tile_runs);
}

}  // namespace

Status run_length_encode(void* d_scratch, std::size_t& scratch_bytes, const std::int32_t* d_in,
                         std::uint64_t size, std::int32_t* d_values, std::uint32_t* d_lengths,
                         std::uint64_t capacity, Outcome* d_outcome, cudaStream_t stream) {
  const std::uint64_t tiles = ceil_div(size, kTile);
  if (tiles > kMaxGrid) return Status(Errc::invalid_argument, "at most 2^43 elements fit a grid");
  CallerScratch scratch(d_scratch);
  Args a{d_in, size, d_values, d_lengths, capacity, nullptr, nullptr, d_outcome};
  // The ticket lies in front of the states, so that one kernel clears both.
  Pair64* const state = scratch.take<Pair64>(1 + tiles);
  a.ticket = reinterpret_cast<unsigned long long*>(state);
  a.states = state + 1;
  if (Status status = scratch.settle(scratch_bytes); !status || scratch.measuring()) return status;
  ZR_TRY(reset(state, 2 * (1 + tiles), d_outcome, stream));
  if (tiles == 0) return Status::ok();
  ZR_LAUNCH(run_length_encode_kernel, static_cast<unsigned>(tiles), kThreads, stream, a);
  return Status::ok();
}

}  // namespace zerorun::cuda_entropy
