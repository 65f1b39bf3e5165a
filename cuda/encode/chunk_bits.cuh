// The first half of assemble: the tiles of a chunk -> its bits as words in shared memory, by a CTA.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "cuda/base/shared_access.cuh"
#include "cuda/base/warp.cuh"
#include "cuda/encode/assemble.hpp"

namespace zerorun::cuda_encode::assembly {

inline constexpr int kThreads = kAssembleThreads;
inline constexpr int kWarps = kThreads / 32;
inline constexpr int kWordsPerThread = kAssembleWordsPerThread;
/// Bytes before stuffing that a CTA handles in one round. At q90 a chunk has some 5000.
inline constexpr std::int32_t kRoundWords = kThreads * kWordsPerThread;
inline constexpr std::uint32_t kRoundBytes = kRoundWords * 4;
/// With the tile before the chunk, which may end in the chunk's first byte.
inline constexpr int kMaxTiles = kChunkTiles + 1;
static_assert(kMaxTiles <= 32);

/// A chunk's tiles as one array of bits. Positions count from the byte that holds the chunk's first
/// bit; the tile before the chunk starts below 0.
struct Chunk {
  const std::uint32_t* words;  ///< of the first tile; those of the others lie behind it
  std::int32_t start[kMaxTiles + 1];
  int tiles;
  std::uint32_t bytes;  ///< before stuffing
  std::uint32_t rounds;
  std::uint32_t interval;
  bool ends_interval, ends_scan;
  std::uint32_t header;  ///< bytes before the scan: here they take no register meanwhile
};

struct Shared {
  alignas(16) std::uint32_t words[kRoundWords];
  std::uint32_t stage[2 * kRoundWords + 2];  // bytes, a marker, and a word that a load may reach
  Chunk chunk;
  std::uint32_t warp[kWarps];
  std::uint64_t before;
};

/// Exclusive sum over the threads of the CTA; `total` becomes the sum of all. Synchronises once.
__device__ inline std::uint32_t cta_exclusive_sum(Shared& s, std::uint32_t value,
                                                  std::uint32_t& total) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const std::uint32_t inclusive = warp_inclusive_sum(value);
  if (lane == 31) s.warp[warp] = inclusive;
  __syncthreads();
  const std::uint32_t others = lane < kWarps ? s.warp[lane] : 0;
  total = warp_add(others);
  return inclusive - value + warp_add(lane < warp ? others : 0u);
}

/// Whether all threads of the CTA add up the bits of the chunks before its own; else the first warp
/// does it alone, without a barrier.
__device__ inline bool sums_by_cta(const AssembleArgs& a) {
  return a.chunk_first_bit == nullptr && a.grid.interval_chunks > 32;
}

/// Bits of the interval before the chunk, by the threads that sums_by_cta() tells.
__device__ inline std::uint64_t bits_before(const AssembleArgs& a, Shared& s,
                                            std::uint32_t interval, std::uint32_t chunk) {
  const std::uint32_t first = a.grid.chunk_index(interval * a.grid.interval_chunks);
  chunk = a.grid.chunk_index(chunk);
  if (a.chunk_first_bit != nullptr) return a.chunk_first_bit[chunk] - a.chunk_first_bit[first];
  if (!sums_by_cta(a))
    return warp_add(threadIdx.x < chunk - first ? a.chunk_bits[first + threadIdx.x] : 0u);
  std::uint32_t own = 0, total = 0;  // kMaxSummedChunks chunks have less than 2^32 bits
  for (std::uint32_t c = first + threadIdx.x; c < chunk; c += kThreads) own += a.chunk_bits[c];
  cta_exclusive_sum(s, own, total);
  return total;
}

/// Fills s.chunk, where other threads can read it after the next barrier.
__device__ inline void find_chunk(const AssembleArgs& a, Shared& s) {
  const TileGrid& grid = a.grid;
  const std::uint32_t interval = grid.by_interval_chunks.quotient(blockIdx.x);
  const std::uint32_t skipped = (blockIdx.x - interval * grid.interval_chunks) * kChunkTiles;
  const std::uint32_t interval_first = interval * grid.interval_tiles;
  const std::uint32_t interval_end = min(interval_first + grid.interval_tiles, grid.tiles);
  const std::uint32_t first = interval_first + skipped;
  const std::uint32_t end = min(first + kChunkTiles, interval_end);
  const std::uint32_t shown = skipped > 0 ? first - 1 : first;
  const std::uint32_t lane = threadIdx.x;  // of the first warp
  // All loads at once: the bits of the tiles, and of the chunks before them in the interval.
  const std::uint32_t index = grid.tile_index(shown);
  const std::uint32_t own = lane < end - shown ? a.tile_bits[index + lane] : 0;
  const std::uint32_t header = a.stream.header_bytes[a.stream.stride > 0 ? blockIdx.y : 0];
  const std::uint64_t before = bits_before(a, s, interval, blockIdx.x);
  if (threadIdx.x >= 32) return;
  Chunk& c = s.chunk;
  const auto inclusive = static_cast<std::int32_t>(warp_inclusive_sum(own));
  const auto tiles = static_cast<std::int32_t>(end - shown);
  const std::uint32_t shown_bits = __shfl_sync(kFullWarp, own, 0);
  const std::int32_t at = static_cast<std::int32_t>(before % 8) -
                          (skipped > 0 ? static_cast<std::int32_t>(shown_bits) : 0);
  if (lane == 0) c.start[0] = at;
  if (lane < kMaxTiles) c.start[lane + 1] = at + inclusive;
  const std::int32_t stop = at + __shfl_sync(kFullWarp, inclusive, tiles - 1);
  if (lane != 0) return;
  c.words = a.words + index * kTileWords;
  c.tiles = tiles;
  c.interval = interval;
  c.header = header;
  c.ends_interval = end == interval_end;
  c.ends_scan = end == grid.tiles;
  c.bytes = static_cast<std::uint32_t>(c.ends_interval ? stop + 7 : stop) / 8;
  c.rounds = max(ceil_div(c.bytes, kRoundBytes), 1u);
}

/// Fills s.chunk.
__device__ inline void open_chunk(const AssembleArgs& a, Shared& s) {
  if (threadIdx.x < 32 || sums_by_cta(a)) find_chunk(a, s);
  __syncthreads();
}

/// ORs the words of a tile, which stand from words[tile] on and whose bits go from `start` to
/// `end`, into those of a round from word `base` on, by a warp. At q90 a tile of 4:2:0 has some 75
/// words: the warp waits for memory once.
__device__ inline void add_tile(const std::uint32_t* words_of_chunk, std::int32_t tile,
                                std::int32_t start, std::int32_t end, std::int32_t base,
                                SharedAddress round) {
  constexpr int kAtOnce = 3;
  const std::int32_t words = (end - start + 31) >> 5;  // they end in zeros
  const std::int32_t moved = -start >> 5;              // from a word's number to that in the tile
  const std::int32_t first = max(start >> 5, base) + static_cast<std::int32_t>(threadIdx.x % 32);
  const std::int32_t stop = min((end + 31) >> 5, base + kRoundWords) + moved;
  // Behind `stop` zeros are added, even behind Shared::words: no branch is worth it.
  const auto high_words = static_cast<std::uint32_t>(min(words, stop));
  const auto low_words = static_cast<std::uint32_t>(min(words, stop + 1));
  SharedAddress to = round + static_cast<std::uint32_t>(first - base) * 4;
#pragma unroll 1
  for (std::int32_t word = first + moved; word < stop; word += 32 * kAtOnce) {
    const std::uint32_t* const from = words_of_chunk + (tile + word);
    __builtin_assume(__isGlobal(from));
    std::uint32_t high[kAtOnce], low[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const auto number = static_cast<std::uint32_t>(word + 32 * i);
      high[i] = number < high_words ? from[32 * i] : 0;
      low[i] = number + 1 < low_words ? from[32 * i + 1] : 0;
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i)
      or_word(to + 32 * 4 * i, __funnelshift_l(low[i], high[i], -start));
    to += 32 * 4 * kAtOnce;
  }
}
static_assert(offsetof(Shared, stage) == sizeof Shared::words);

/// Puts the bits of a round into s.words, a warp for each tile, and ones behind the end of an
/// interval up to the end of its byte (T.81 F.1.2.3). Clears s.stage.
__device__ inline void fill_round(Shared& s, std::uint32_t round) {
  const Chunk& c = s.chunk;
  const std::int32_t base = static_cast<std::int32_t>(round) * kRoundWords;  // in words
  const SharedAddress words = shared_address(s.words);
  auto* const all = reinterpret_cast<uint4*>(&s);  // the words and the stage behind them
#pragma unroll
  for (int i = 0; i < 3 * kWordsPerThread / 4; ++i) all[threadIdx.x + i * kThreads] = uint4{};
  if (threadIdx.x == 0) s.stage[2 * kRoundWords] = 0;
  __syncthreads();
  // Addresses by hand: behind each access that the compiler may not move it finds s anew.
  const std::uint32_t* const words_of_chunk = c.words;
  const std::int32_t tiles = c.tiles;
  const SharedAddress start = shared_address(c.start);
#pragma unroll 1
  for (auto i = static_cast<std::int32_t>(threadIdx.x / 32); i < tiles; i += kWarps) {
    const auto at = static_cast<std::uint32_t>(i);
    add_tile(words_of_chunk, i * static_cast<std::int32_t>(kTileWords),
             static_cast<std::int32_t>(load_word(start, at)),
             static_cast<std::int32_t>(load_word<4>(start, at)), base, words);
  }
  const std::int32_t end = c.start[tiles], end_word = (end >> 5) - base;
  if (threadIdx.x == 0 && c.ends_interval && end_word >= 0 && end_word < kRoundWords)
    atomicOr(s.words + end_word, (0x7Fu >> (end + 7) % 8) << (24 - end % 32 / 8 * 8));
  __syncthreads();
}

}  // namespace zerorun::cuda_encode::assembly
