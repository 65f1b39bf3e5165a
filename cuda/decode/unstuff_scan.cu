// Stuffed bytes -> clean bytes in one pass; a tile finds its place by looking back.
// SPDX-License-Identifier: MIT
#include "cuda/decode/unstuff_scan.hpp"

#include <cub/block/block_scan.cuh>

#include "cuda/base/check.hpp"
#include "cuda/base/launch.hpp"
#include "cuda/base/look_back.cuh"
#include "cuda/decode/clear_words.cuh"
#include "cuda/decode/group_sums.hpp"
#include "cuda/stages/stuffed_bytes.cuh"

namespace zerorun {
namespace {

constexpr int kThreads = kUnstuffThreads;
static_assert(kThreads * kStuffedBytesPerThread == kUnstuffTileBytes);

/// A tile's state: its clean bytes and its borders between intervals, and whether the scan ends in
/// it or before it.
constexpr std::uint64_t kStopped = std::uint64_t{1} << 61;
constexpr int kBordersShift = 32;
constexpr std::uint64_t kCountsMask = kStopped - 1;

struct Before {
  std::uint64_t counts;
  bool stopped;
};

/// Counts what is before the tile; called by one warp.
__device__ Before look_back_bytes(const std::uint64_t* states, std::uint32_t tile) {
  Before before{0, false};
  walk_back<4>(states, tile, [&](std::uint64_t state, bool counts) {
    if (counts) before.counts += state & kCountsMask;
    before.stopped = __any_sync(kFullWarp, counts && (state & kStopped) != 0);
    return before.stopped;
  });
  before.counts = warp_sum(before.counts);
  return before;
}

/// Stores bytes from number `first` on, four bytes a word with the first one highest. `from` is
/// aligned, and three bytes after its last may be read.
__device__ void store_clean(std::uint8_t* clean, std::uint32_t first, const std::uint8_t* from,
                            std::uint32_t bytes) {
  const std::uint32_t begin = min((first + 3) / 4 * 4, first + bytes);  // of the whole words
  const std::uint32_t end = max((first + bytes) / 4 * 4, begin);
  const auto* const words = reinterpret_cast<const std::uint32_t*>(from);
  for (std::uint32_t at = begin + 4 * threadIdx.x; at < end; at += 4 * kThreads) {
    const std::uint32_t i = at - first;
    const std::uint32_t last_to_first = 0x0123 + 0x1111 * (i % 4);
    *reinterpret_cast<std::uint32_t*>(clean + at) =
        __byte_perm(words[i / 4], words[i / 4 + 1], last_to_first);
  }
  // Incomplete words are shared with other tiles, so their bytes are stored one by one.
  const std::uint32_t at = threadIdx.x < 4 ? first + threadIdx.x : end + threadIdx.x - 4;
  if (threadIdx.x < 8 && at < first + bytes && (threadIdx.x >= 4 || at < begin))
    clean[at ^ 3] = from[at - first];
}

/// Entries that a thread sums up.
constexpr std::uint32_t kEntriesPerThread = kSumTileGroups / kUnstuffThreads;

/// Called by all threads of a CTA.
__device__ void sum_groups(const SumGroupsArgs& a, std::uint32_t tile) {
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

__global__ void __launch_bounds__(kThreads)
    unstuff_kernel(UnstuffScanArgs a, std::uint32_t lead, std::uint32_t index_tiles) {
  using Scan = cub::BlockScan<std::uint32_t, kThreads>;
  __shared__ typename Scan::TempStorage temp;
  __shared__ alignas(16) std::uint8_t clean[kUnstuffTileBytes + 4];
  __shared__ std::uint32_t tile_stop;
  __shared__ Before before;
  wait_for_previous_kernel();
  clear_words(a.cleared, a.cleared_words);
  if (blockIdx.x < index_tiles) {
    sum_groups(a.index, blockIdx.x);
    return;
  }
  const std::uint32_t tile = blockIdx.x - index_tiles;
  const bool is_last_tile = blockIdx.x + 1 == gridDim.x;
  const StuffedBytes input{a.in, a.in_bytes, lead};
  if (threadIdx.x == 0) tile_stop = kUnstuffTileBytes;
  __syncthreads();
  const std::uint32_t in_tile = threadIdx.x * kStuffedBytesPerThread;
  const std::int64_t first = std::int64_t{tile} * kUnstuffTileBytes + in_tile - lead;
  const StuffedWindow window = load_window(input, first);
  StuffedFlags flags = classify(input, first, window);
  if (flags.stop < kStuffedBytesPerThread)
    atomicMin(&tile_stop, in_tile + static_cast<std::uint32_t>(flags.stop));
  __syncthreads();
  const std::uint32_t stop = tile_stop;
  if (in_tile > stop) flags.emit = flags.border = 0;
  // Both counts are at most 4096, so one sum serves both.
  std::uint32_t own, total;
  Scan(temp).ExclusiveSum(
      static_cast<std::uint32_t>(__popc(flags.emit) << 16 | __popc(flags.border)), own, total);
  const std::uint64_t counts = std::uint64_t{total & 0xFFFF} << kBordersShift | total >> 16;
  const bool stops = stop < kUnstuffTileBytes;
  if (threadIdx.x < 32) {
    const std::uint64_t mark = stops ? kStopped : 0;
    if (threadIdx.x == 0)
      store_relaxed(a.states + tile, (tile == 0 ? kTileInclusive : kTileAggregate) | mark | counts);
    const Before found = tile == 0 ? Before{0, false} : look_back_bytes(a.states, tile);
    if (threadIdx.x == 0) {
      if (tile > 0)
        store_relaxed(a.states + tile, kTileInclusive | mark | (found.stopped ? kStopped : 0) |
                                           ((found.counts + counts) & kCountsMask));
      before = found;
    }
  }
  std::uint32_t at = own >> 16;
  const StuffedWindow emitted = emitted_bytes(window, flags);
#pragma unroll
  for (int i = 0; i < kStuffedBytesPerThread; ++i)
    if ((flags.emit >> i & 1) != 0) clean[at++] = emitted.byte(i);
  __syncthreads();
  if (before.stopped) return;

  const auto first_byte = static_cast<std::uint32_t>(before.counts);
  const auto first_border = static_cast<std::uint32_t>(before.counts >> kBordersShift);
  const std::uint32_t bytes = total >> 16;
  store_clean(a.clean, first_byte, clean, bytes);

  bool out_of_order = false;
  if (flags.border != 0) {
    std::uint32_t border = first_border + (own & 0xFFFF), byte = first_byte + (own >> 16);
#pragma unroll
    for (int i = 0; i < kStuffedBytesPerThread; ++i) {
      byte += flags.emit >> i & 1;
      if ((flags.border >> i & 1) == 0) continue;
      out_of_order |= window.byte(i) != marker::kRst0 + border % 8 || border + 1 >= a.intervals;
      ++border;
      if (border < a.intervals) a.interval_first[border] = byte;
    }
  }
  const bool last = stops || is_last_tile;
  if (last && first_border + (total & 0xFFFF) + 1 != a.intervals) out_of_order = true;
  if (out_of_order) atomicOr(&a.summary->faults, kFaultRestarts);
  if (!last) return;
  const std::uint32_t clean_bytes = first_byte + bytes;
  if (threadIdx.x < kCleanPadding + 3) a.clean[(clean_bytes + threadIdx.x) ^ 3] = 0;
  if (threadIdx.x != 0) return;
  const std::uint32_t consumed = stops ? tile * kUnstuffTileBytes + stop - lead - 1 : a.in_bytes;
  a.interval_first[0] = 0;
  a.interval_first[a.intervals] = clean_bytes;
  a.summary->clean_bytes = clean_bytes;
  a.report->consumed_bytes = consumed;
}

}  // namespace

Status unstuff_scan(const UnstuffScanArgs& a, cudaStream_t stream) {
  const auto lead =
      static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(a.in) % kStuffedBytesPerThread);
  const std::uint32_t index_tiles = sum_tiles(a.index.groups);
  ZR_CUDA_TRY(launch_behind(unstuff_kernel, index_tiles + unstuff_tiles(a.in_bytes, lead), kThreads,
                            stream, a, lead, index_tiles));
  return Status::ok();
}

}  // namespace zerorun
