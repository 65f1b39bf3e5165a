// Decoupled look-back (Merrill and Garland, 2016): each tile publishes its own sum at once and the
// sum of all tiles up to itself when it knows it; a tile adds up what its predecessors published.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "cuda/base/relaxed.cuh"

namespace zerorun::cuda_entropy {

inline constexpr unsigned kFullWarp = 0xFFFFFFFFu;

/// State of a tile: two bits of status over 62 bits of sum. Zero-filled memory is "nothing yet".
inline constexpr int kTileStatusShift = 62;
inline constexpr std::uint64_t kTileAggregate = std::uint64_t{1} << kTileStatusShift;
inline constexpr std::uint64_t kTileInclusive = std::uint64_t{2} << kTileStatusShift;
inline constexpr std::uint64_t kTileSumMask = kTileAggregate - 1;

__device__ inline unsigned tile_status(std::uint64_t state) {
  return static_cast<unsigned>(state >> kTileStatusShift);
}

/// Lanes from the nearest tile (0) to the nearest inclusive one, if every state there is published.
struct Window {
  unsigned inclusive;  ///< lanes with an inclusive state
  int last;            ///< last lane that counts: the first inclusive one, or 31
  bool ready;
};

__device__ inline Window window_of(std::uint64_t state) {
  Window window;
  window.inclusive = __ballot_sync(kFullWarp, tile_status(state) == 2);
  window.last = window.inclusive != 0 ? __ffs(static_cast<int>(window.inclusive)) - 1 : 31;
  const unsigned missing = __ballot_sync(kFullWarp, tile_status(state) == 0);
  window.ready = (missing & (0xFFFFFFFFu >> (31 - window.last))) == 0;
  return window;
}

/// Sum of the tiles before `tile`; called by all lanes of one warp. Terminates because tiles are
/// handed out in order by a counter: a running tile only waits for tiles that run or are done.
/// The sum of one tile must be below 2^27.
__device__ inline std::uint64_t look_back(const std::uint64_t* states, std::uint64_t tile) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  std::uint64_t sum = 0;
  for (std::uint64_t end = tile;; end -= 32) {
    const bool exists = end > static_cast<std::uint64_t>(lane);  // before tile 0 all is 0
    std::uint64_t state = exists ? load_relaxed(states + end - 1 - lane) : kTileInclusive;
    Window window = window_of(state);
    while (!window.ready) {
      if (tile_status(state) == 0) state = load_relaxed(states + end - 1 - lane);
      window = window_of(state);
    }
    const bool adds = lane < window.last || (lane == window.last && window.inclusive == 0);
    sum += __reduce_add_sync(kFullWarp, adds ? static_cast<unsigned>(state & kTileSumMask) : 0u);
    if (window.inclusive != 0)
      return sum + (__shfl_sync(kFullWarp, state, window.last) & kTileSumMask);
  }
}

/// Hands the states before `tile` to take(state, counts), a lane each, from the nearest tile back
/// to the nearest inclusive one, or until take() returns true; `counts`: not behind that one.
/// Called by all lanes of one warp. 32 * kWindows states are loaded at once: where a thousand tiles
/// start together, going back by 32 takes longer than their work. Terminates where CTAs start in
/// the order of their tiles (CUB's scans rely on it too) and publish before they look back.
template <int kWindows, typename Take>
__device__ void walk_back(const std::uint64_t* states, std::int64_t tile, Take take) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  for (std::int64_t end = tile;; end -= 32 * kWindows) {
    std::uint64_t state[kWindows];
#pragma unroll
    for (int i = 0; i < kWindows; ++i) {
      const std::int64_t at = end - 1 - lane - 32 * i;
      state[i] = at >= 0 ? load_relaxed(states + at) : kTileInclusive;  // before the first, 0
    }
#pragma unroll
    for (int i = 0; i < kWindows; ++i) {
      Window window = window_of(state[i]);
      while (!window.ready) {
        if (tile_status(state[i]) == 0) state[i] = load_relaxed(states + end - 1 - lane - 32 * i);
        window = window_of(state[i]);
      }
      if (take(state[i], lane <= window.last) || window.inclusive != 0) return;
    }
  }
}

/// Sum over the lanes of a warp, in each of them.
__device__ inline std::uint64_t warp_sum(std::uint64_t value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(kFullWarp, value, step);
  return value;
}

/// Inclusive sum over the lanes of a warp.
__device__ inline unsigned warp_inclusive_sum(unsigned value) {
  const unsigned lane = threadIdx.x % 32;
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const unsigned left = __shfl_up_sync(kFullWarp, value, distance);
    if (lane >= distance) value += left;
  }
  return value;
}

}  // namespace zerorun::cuda_entropy
