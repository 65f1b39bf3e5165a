// What walks over rows read, in shared memory. It is copied there by many threads at once, without
// a register in between; they wait for their copies together.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_pipeline.h>

#include <cstddef>
#include <cstdint>

#include "cuda/fused_decode/row_tables.hpp"
#include "cuda/fused_decode/row_walk.hpp"
#include "cuda/fused_decode/shared_load.cuh"

namespace zerorun {

/// A multiple of 4 words, both ends aligned to 16 bytes.
template <int kThreads>
__device__ void copy_words(const void* from, std::uint32_t* to, std::uint32_t words) {
  for (std::uint32_t i = threadIdx.x; i < words / 4; i += kThreads)
    __pipeline_memcpy_async(to + 4 * i, static_cast<const std::uint32_t*>(from) + 4 * i, 16);
}

/// In shared memory: for each pair of code tables entries of `kIndexBits` bits and the long codes,
/// those of the DC tables first; then the blocks of the MCU. A table's place is the address of its
/// entries, a block's its own, so that none has to be computed from a number.
template <int kIndexBits>
struct SharedTables {
  static constexpr std::uint32_t kTableBytes = 4u << kIndexBits;
  static constexpr std::uint32_t kCodeWords = sizeof(LongCodes) / 4;
  static_assert(sizeof(LongCodes) % 4 == 0);

  SharedAddress entries, ac_entries, blocks;
  const LongCodes* codes;

  __device__ std::uint32_t look_up(SharedAddress table, std::uint32_t index) const {
    return load_word(table, index);
  }
  __device__ const LongCodes& long_codes(SharedAddress table) const {
    return codes[(table - entries) / kTableBytes];
  }
  __device__ int side(SharedAddress table) const { return table < ac_entries ? kDcSide : kAcSide; }
  __device__ BlockTables block(SharedAddress place) const {
    const uint4 words = load_four_words(place);
    return {words.x, words.y, words.z, words.w};
  }
  __device__ BlockTables block_at(std::uint32_t phase) const {
    return block(blocks + phase * static_cast<std::uint32_t>(sizeof(BlockTables)));
  }

  /// Of shared memory.
  static __host__ __device__ constexpr std::uint32_t words(std::uint32_t pairs) {
    return (2 * pairs * ((1u << kIndexBits) + kCodeWords) + 3) / 4 * 4 +
           kMaxBlocksPerMcu * static_cast<std::uint32_t>(sizeof(BlockTables) / 4);
  }
};

/// Fills `to`, aligned to 16 bytes, with the tables' entries (`from[side]`), and starts copies.
template <int kThreads, int kIndexBits>
__device__ SharedTables<kIndexBits> load_tables(
    const std::uint32_t (&from)[2][kMaxTablePairs][1 << kIndexBits],
    const LongCodes (&codes)[2][kMaxTablePairs], const PairCycle& cycle, std::uint32_t* to) {
  using Tables = SharedTables<kIndexBits>;
  constexpr std::uint32_t kTableBytes = Tables::kTableBytes;
  constexpr std::uint32_t kBlockBytes = sizeof(BlockTables);
  const auto pairs = static_cast<std::uint32_t>(cycle.pairs);
  const std::uint32_t side_entries = pairs << kIndexBits;
  copy_words<kThreads>(from[kDcSide], to, side_entries);
  copy_words<kThreads>(from[kAcSide], to + side_entries, side_entries);
  std::uint32_t* const codes_to = to + 2 * side_entries;
  const std::uint32_t side_words = pairs * Tables::kCodeWords;
  for (std::uint32_t i = threadIdx.x; i < 2 * side_words; i += kThreads) {
    const std::uint32_t side = i / side_words;
    const auto* const words = reinterpret_cast<const std::uint32_t*>(codes[side]);
    __pipeline_memcpy_async(codes_to + i, words + i - side * side_words, 4);
  }
  std::uint32_t* const blocks_to = to + Tables::words(pairs) - kMaxBlocksPerMcu * (kBlockBytes / 4);
  const SharedAddress entries = shared_address(to), ac_entries = entries + pairs * kTableBytes;
  const SharedAddress blocks = shared_address(blocks_to);
  const auto period = static_cast<std::uint32_t>(cycle.period);
  for (std::uint32_t i = threadIdx.x; i < period; i += kThreads) {
    const std::uint32_t bytes = cycle.pair[i] * kTableBytes, next = i + 1 == period ? 0 : i + 1;
    reinterpret_cast<BlockTables*>(blocks_to)[i] = {entries + bytes, ac_entries + bytes,
                                                    blocks + next * kBlockBytes, i};
  }
  return {entries, ac_entries, blocks, reinterpret_cast<const LongCodes*>(codes_to)};
}

/// Bits of a chunk, counted from the first of its words.
struct SharedBits {
  SharedAddress words;
  __device__ std::uint32_t operator()(std::uint32_t bit) const {
    return window_of(load_words_of_bit(words, bit), bit);
  }
};

/// `count` words of the clean bytes from `first` on; none behind word `word_count` - 1.
template <int kThreads>
__device__ void copy_clean_words(const std::uint32_t* words, std::uint32_t word_count,
                                 std::uint32_t first, std::uint32_t count, std::uint32_t* to) {
  for (std::uint32_t i = threadIdx.x; i < min(count, word_count - first); i += kThreads)
    __pipeline_memcpy_async(to + i, words + first + i, 4);
}

/// The thread's own copies are there; the caller synchronises.
__device__ inline void wait_for_copies() {
  __pipeline_commit();
  __pipeline_wait_prior(0);
}

}  // namespace zerorun
