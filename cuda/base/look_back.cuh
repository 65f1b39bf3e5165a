// Decoupled look-back (Merrill and Garland, 2016): each tile publishes its own sum at once, and the
// sum up to its end as soon as that is known. A tile adds up what the tiles before it published.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "cuda/base/kernel_numbers.hpp"
#include "cuda/base/warp.cuh"

namespace zerorun {

// Relaxed loads and stores of 64 and 128 bits, which other CTAs see whole. They imply no order with
// other accesses: everything that is passed on stands in the word itself.

struct alignas(16) Pair64 {
  std::uint64_t first;
  std::uint64_t second;
};

__device__ inline std::uint64_t load_relaxed(const std::uint64_t* at) {
  std::uint64_t value;
  asm volatile("ld.relaxed.gpu.global.b64 %0, [%1];" : "=l"(value) : "l"(at) : "memory");
  return value;
}

__device__ inline void store_relaxed(std::uint64_t* at, std::uint64_t value) {
  asm volatile("st.relaxed.gpu.global.b64 [%0], %1;" ::"l"(at), "l"(value) : "memory");
}

/// PTX ISA 8.3: accesses of type .b128 are not split, unlike vectors of two.
__device__ inline Pair64 load_relaxed(const Pair64* at) {
  Pair64 value;
  asm volatile(
      "{ .reg .b128 whole;\n"
      "  ld.relaxed.gpu.global.b128 whole, [%2];\n"
      "  mov.b128 {%0, %1}, whole; }"
      : "=l"(value.first), "=l"(value.second)
      : "l"(at)
      : "memory");
  return value;
}

__device__ inline void store_relaxed(Pair64* at, Pair64 value) {
  asm volatile(
      "{ .reg .b128 whole;\n"
      "  mov.b128 whole, {%1, %2};\n"
      "  st.relaxed.gpu.global.b128 [%0], whole; }" ::"l"(at),
      "l"(value.first), "l"(value.second)
      : "memory");
}

/// State of a tile: two bits of status over 62 bits of sum. Zero-filled memory is "nothing yet".
inline constexpr int kTileStatusShift = 62;
inline constexpr std::uint64_t kTileAggregate = std::uint64_t{1} << kTileStatusShift;
inline constexpr std::uint64_t kTileInclusive = std::uint64_t{2} << kTileStatusShift;
/// Inclusive too; and what else the tile wrote can be read, after a fence.
inline constexpr std::uint64_t kTileReadable = std::uint64_t{3} << kTileStatusShift;
inline constexpr std::uint64_t kTileSumMask = kTileAggregate - 1;

__device__ inline unsigned tile_status(std::uint64_t state) {
  return static_cast<unsigned>(state >> kTileStatusShift);
}
__device__ inline bool is_readable(std::uint64_t state) { return state >= kTileReadable; }

/// 32 states as a warp sees them; lane 0 has the nearest one.
struct TileWindow {
  unsigned inclusive;  ///< lanes with an inclusive state
  unsigned counting;   ///< lanes whose states count: up to the first inclusive one, or all
  bool ready;          ///< those are published

  __device__ bool counts(int lane) const { return (counting >> lane & 1) != 0; }
  /// Whether the lane's state counts and is not inclusive.
  __device__ bool adds(int lane) const { return ((counting & ~inclusive) >> lane & 1) != 0; }
  /// The lane of the inclusive state, if there is one.
  __device__ int last() const { return __ffs(static_cast<int>(inclusive)) - 1; }
};

__device__ inline TileWindow window_of(std::uint64_t state) {
  TileWindow window;
  window.inclusive = __ballot_sync(kFullWarp, tile_status(state) >= 2);
  window.counting = window.inclusive ^ (window.inclusive - 1);
  const unsigned missing = __ballot_sync(kFullWarp, tile_status(state) == 0);
  window.ready = (missing & window.counting) == 0;
  return window;
}

/// Sum of the tiles before `tile`, by all lanes of a warp. The sum of one tile is below 2^27.
/// Terminates where a counter hands tiles out in order: a tile waits only for tiles that already
/// run or are done.
__device__ inline std::uint64_t look_back(const std::uint64_t* states, std::uint64_t tile) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  std::uint64_t sum = 0;
  for (std::uint64_t end = tile;; end -= 32) {
    const bool exists = end > static_cast<std::uint64_t>(lane);  // before tile 0 all is 0
    std::uint64_t state = exists ? load_relaxed(states + end - 1 - lane) : kTileInclusive;
    TileWindow window = window_of(state);
    while (!window.ready) {
      if (tile_status(state) == 0) state = load_relaxed(states + end - 1 - lane);
      window = window_of(state);
    }
    sum += warp_add(window.adds(lane) ? static_cast<unsigned>(state & kTileSumMask) : 0u);
    if (window.inclusive != 0)
      return sum + (__shfl_sync(kFullWarp, state, window.last()) & kTileSumMask);
  }
}

/// Calls take(state, counts) in all lanes of a warp, each with a state before `tile`, from the
/// nearest one back to the nearest inclusive one, or until take() returns true. `counts` is false
/// beyond that inclusive state. 32 * kWindows states are loaded at once: where a thousand tiles
/// start together, steps of 32 would take longer than the work of the tiles. Terminates where CTAs
/// start in the order of their tiles (CUB's scans rely on this too) or take them in order, and
/// publish before they look back. `Number`: 32 bits save registers.
template <int kWindows, typename Number = std::int64_t, typename Take>
__device__ void walk_back(const std::uint64_t* states, std::uint32_t tile, Take take) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  for (auto end = static_cast<Number>(tile);; end -= 32 * kWindows) {
    std::uint64_t state[kWindows];
    const Number nearest = end - 1 - lane;
    const std::uint64_t* const from = kept(states + nearest);
#pragma unroll
    for (int i = 0; i < kWindows; ++i)  // before the first, 0
      state[i] = nearest >= 32 * i ? load_relaxed(from - 32 * i) : kTileInclusive;
#pragma unroll
    for (int i = 0; i < kWindows; ++i) {
      TileWindow window = window_of(state[i]);
      while (!window.ready) {
        if (tile_status(state[i]) == 0) state[i] = load_relaxed(from - 32 * i);
        window = window_of(state[i]);
      }
      if (take(state[i], window.counts(lane)) || window.inclusive != 0) return;
    }
  }
}

/// Publishes the number that a tile adds, and gives those of the tiles before it together: to the
/// first lane of the warp that calls this, in `before`. As walk_back().
template <typename Number = std::int64_t>
__device__ void publish_and_look_back(std::uint64_t* states, std::uint32_t tile, std::uint64_t own,
                                      std::uint64_t& before) {
  const bool leads = threadIdx.x % 32 == 0;
  if (leads) store_relaxed(states + tile, (tile == 0 ? kTileInclusive : kTileAggregate) | own);
  std::uint64_t sum = 0;
  if (tile > 0) {
    walk_back<4, Number>(states, tile, [&](std::uint64_t state, bool counts) {
      if (counts) sum += state & kTileSumMask;
      return false;
    });
    sum = warp_sum(sum);
  }
  if (!leads) return;
  if (tile > 0) store_relaxed(states + tile, kTileInclusive | (sum + own));
  before = sum;
}

/// Waits until the states from number `from` on are readable up to the first of which is_enough()
/// says so, and returns that. Behind `count` states stands `end`, which is enough. Called by one
/// warp. Terminates where the CTAs of all tiles run or are done.
template <typename IsEnough>
__device__ std::uint64_t await_readable(const std::uint64_t* states, std::uint32_t count,
                                        std::uint64_t end, std::uint32_t from,
                                        const IsEnough& is_enough) {
  for (std::uint32_t first = from;; first += 32) {
    const std::uint32_t number = first + threadIdx.x % 32;
    std::uint64_t state = number < count ? 0 : end;
    unsigned missing, enough;
    do {
      if (!is_readable(state)) state = load_relaxed(states + number);
      missing = __ballot_sync(kFullWarp, !is_readable(state));
      enough = __ballot_sync(kFullWarp, is_readable(state) && is_enough(state));
    } while ((missing & (enough - 1) & ~enough) != 0);
    if (enough == 0) continue;
    state = __shfl_sync(kFullWarp, state, __ffs(static_cast<int>(enough)) - 1);
    __threadfence();
    return state;
  }
}

}  // namespace zerorun
