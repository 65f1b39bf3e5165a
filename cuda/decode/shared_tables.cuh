// What the walks read, in shared memory. All threads start asynchronous copies, which need no
// registers, and later wait for them together.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_pipeline.h>

#include <cstddef>
#include <cstdint>

#include "cuda/decode/walk_tables.hpp"
#include "cuda/decode/subsequence_walk.hpp"
#include "cuda/base/shared_access.cuh"

namespace zerorun {

/// Copies a multiple of 4 words; both addresses are aligned to 16 bytes.
template <int kThreads>
__device__ void copy_words(const void* from, std::uint32_t* to, std::uint32_t words) {
  for (std::uint32_t i = threadIdx.x; i < words / 4; i += kThreads)
    __pipeline_memcpy_async(to + 4 * i, static_cast<const std::uint32_t*>(from) + 4 * i, 16);
}

/// Code tables in shared memory: for each pair the entries of `kIndexBits` bits, those of all DC
/// tables first; then the blocks of the MCU. A table or block is identified by its address, so that
/// no address is computed from a number. What is rarely needed stays in device memory.
template <int kIndexBits>
struct SharedTables {
  static constexpr std::uint32_t kTableBytes = 4u << kIndexBits;

  struct alignas(16) Block {
    BlockTables tables;
    std::uint32_t phase_before;
  };
  static_assert(sizeof(Block) == 16, "shared_table_words() counts with it");

  SharedAddress entries, ac_entries, blocks;
  const WalkTables* rare;

  __device__ std::uint32_t look_up(SharedAddress table, std::uint32_t index) const {
    return load_word(table, index);
  }
  __device__ std::uint32_t long_symbol(SharedAddress table, std::uint32_t next16) const {
    const bool is_ac = table >= ac_entries;
    const std::uint32_t pair = (table - (is_ac ? ac_entries : entries)) / kTableBytes;
    return long_symbol_of(*rare, is_ac ? kAcSide : kDcSide, pair, next16);
  }
  __device__ SharedAddress ac_of(SharedAddress dc) const { return dc + (ac_entries - entries); }
  __device__ SharedAddress place(std::uint32_t phase) const {
    return blocks + phase * static_cast<std::uint32_t>(sizeof(Block));
  }
  __device__ BlockTables block(SharedAddress place) const {
    const uint2 words = load_two_words(place);
    return {words.x, words.y};
  }
  __device__ std::uint32_t phase_before(SharedAddress place) const {
    return load_word(place + static_cast<std::uint32_t>(offsetof(Block, phase_before)));
  }
};

/// Starts copies of the tables' entries (`from`, by side) to `to`, which is aligned to 16 bytes,
/// and lists the blocks after them.
template <int kThreads, int kIndexBits>
__device__ SharedTables<kIndexBits> load_tables(
    const WalkTables* tables, const std::uint32_t (&from)[2][kMaxTablePairs][1 << kIndexBits],
    const PairCycle& cycle, std::uint32_t* to) {
  using Tables = SharedTables<kIndexBits>;
  using Block = typename Tables::Block;
  constexpr auto kBlockBytes = static_cast<std::uint32_t>(sizeof(Block));
  const auto pairs = static_cast<std::uint32_t>(cycle.pairs);
  const std::uint32_t side_entries = pairs << kIndexBits;
  copy_words<kThreads>(from[kDcSide], to, side_entries);
  copy_words<kThreads>(from[kAcSide], to + side_entries, side_entries);
  auto* const blocks_to = reinterpret_cast<Block*>(to + 2 * side_entries);
  const SharedAddress entries = shared_address(to), blocks = shared_address(blocks_to);
  const auto period = static_cast<std::uint32_t>(cycle.period);
  for (std::uint32_t i = threadIdx.x; i < period; i += kThreads) {
    const std::uint32_t next = i + 1 == period ? 0 : i + 1;
    blocks_to[i] = {{entries + cycle.pair[i] * Tables::kTableBytes, blocks + next * kBlockBytes},
                    i == 0 ? period - 1 : i - 1};
  }
  return {entries, entries + 4 * side_entries, blocks, tables};
}

/// The word of an array that has bit `bit`, and the next one.
__device__ inline WordPair load_words_of_bit(SharedAddress array, std::uint32_t bit) {
  WordPair words;
  asm volatile(
      "{\n\t"
      ".reg .u32 at;\n\t"
      "shr.u32 at, %2, 5;\n\t"
      "mad.lo.u32 at, at, 4, %3;\n\t"
      "ld.shared.u32 %0, [at];\n\t"
      "ld.shared.u32 %1, [at + 4];\n\t"
      "}"
      : "=r"(words.first), "=r"(words.second)
      : "r"(bit), "r"(array));
  return words;
}

/// `Bits` of a walk in shared memory; bit 0 is the first one of `words`.
struct SharedWords {
  SharedAddress array, array_behind;
  __device__ explicit SharedWords(const std::uint32_t* words)
      : array(shared_address(words)), array_behind(array + 4) {}
  __device__ WordPair words(std::uint32_t bit) const { return load_words_of_bit(array, bit); }
  __device__ WordPair words_behind(std::uint32_t bit) const {
    return load_words_of_bit(array_behind, bit);
  }
};

/// Starts copies of `count` words of the clean bytes from `first` on, but of none after the last.
template <int kThreads>
__device__ void copy_clean_words(const std::uint32_t* words, std::uint32_t word_count,
                                 std::uint32_t first, std::uint32_t count, std::uint32_t* to) {
  for (std::uint32_t i = threadIdx.x; i < min(count, word_count - first); i += kThreads)
    __pipeline_memcpy_async(to + i, words + first + i, 4);
}

/// Waits for the thread's own copies; the caller synchronises the CTA.
__device__ inline void wait_for_copies() {
  __pipeline_commit();
  __pipeline_wait_prior(0);
}

}  // namespace zerorun
