// How far unstuff_scan() has got with a scan, for kernels that begin before it has ended: from
// pinned host memory it reads at the pace of the bus, slower than the walks. Its tiles publish in
// their states when what they wrote can be read. A CTA behind it waits for the tiles with its
// bytes.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "cuda/base/look_back.cuh"
#include "cuda/decode/scan_kernels.hpp"

namespace zerorun {

/// A tile's state: its clean bytes and its borders between intervals, and whether the scan ends in
/// it or before it.
inline constexpr std::uint64_t kScanStopped = std::uint64_t{1} << 61;
inline constexpr int kBordersShift = 32;
inline constexpr std::uint64_t kTileCountsMask = kScanStopped - 1;

/// Intervals of the scan of which the first byte is known, and the clean bytes that can be read.
/// The last of the intervals may go on behind them, unless the scan ended.
struct ScanProgress {
  std::uint32_t bytes, intervals;
  bool ended;

  /// Words that may be read.
  __device__ std::uint32_t words() const { return (bytes + (ended ? kCleanPadding : 0)) / 4; }
  /// Where an interval ends, or up to where it goes on.
  __device__ std::uint32_t end_of(const ScanArgs& a, std::uint32_t interval) const {
    return ended || interval + 1 < intervals ? a.interval_first[interval + 1] : bytes;
  }
};

__device__ inline ScanProgress progress_of(const ScanArgs& a, std::uint64_t state, bool ended) {
  const std::uint64_t counts = state & kTileCountsMask;
  const std::uint32_t intervals = static_cast<std::uint32_t>(counts >> kBordersShift) + 1;
  return {static_cast<std::uint32_t>(counts), ended ? intervals : min(intervals, a.intervals),
          ended};
}

/// Waits until `is_enough` says so of the progress, or the scan ended. Clean bytes before `from`
/// need not be there. Called by one warp. Terminates where all CTAs of unstuff_scan() run or are
/// done.
template <typename IsEnough>
__device__ ScanProgress await_progress(const ScanArgs& a, std::uint32_t from,
                                       const IsEnough& is_enough) {
  // A clean byte is never before the stuffed byte of its number.
  std::uint64_t state = await_readable(a.tile_states, a.tiles, kTileReadable | kScanStopped,
                                       from / kUnstuffTileBytes, [&](std::uint64_t of_tile) {
                                         return (of_tile & kScanStopped) != 0 ||
                                                is_enough(progress_of(a, of_tile, false));
                                       });
  if ((state & kScanStopped) == 0) return progress_of(a, state, false);
  state = await_readable(&a.summary->end, 1, kTileReadable, 0, [](std::uint64_t) { return true; });
  return progress_of(a, state, true);
}

/// Publishes that what the CTA wrote can be read. `counts`: pack_counts() up to
/// its end; anything if the scan has a fault. Called by all threads.
__device__ inline void publish_readable(const ScanArgs& a, std::uint64_t counts) {
  __syncthreads();
  if (threadIdx.x != 0) return;
  __threadfence();
  store_relaxed(a.chunk_counts + blockIdx.x, kTileReadable | (counts & kTileSumMask));
}

}  // namespace zerorun
