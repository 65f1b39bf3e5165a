// The tables that the walks read, in shared memory. All threads start asynchronous copies, which
// need no registers, and later wait for them together.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_pipeline.h>

#include <cstddef>
#include <cstdint>

#include "cuda/base/kernel_numbers.hpp"
#include "cuda/base/shared_access.cuh"
#include "cuda/decode/scan_kernels.hpp"

namespace zerorun {

/// Copies a multiple of 4 words, by all threads of the CTA; both addresses are aligned to 16 bytes.
/// `kAtOnce`: vectors that a thread copies without a loop, which would take more instructions.
template <std::uint32_t kAtOnce = 4>
__device__ void copy_words(const void* from, std::uint32_t* to, std::uint32_t words,
                           std::uint32_t threads) {
  const auto* at = static_cast<const uint4*>(from) + threadIdx.x;
  auto* to_at = reinterpret_cast<uint4*>(to) + threadIdx.x;
#pragma unroll 1
  for (std::uint32_t i = threadIdx.x; i < words / 4; i += kAtOnce * threads) {
    asm("" : "+l"(at));  // or its sum with each offset is computed by two instructions
#pragma unroll
    for (std::uint32_t k = 0; k < kAtOnce; ++k)
      if (i + k * threads < words / 4)
        __pipeline_memcpy_async(to_at + k * threads, at + k * threads, 16);
    at += kAtOnce * threads;
    to_at += kAtOnce * threads;
  }
}

/// Code tables in shared memory, to skip or to decode: for each pair the entries, those of all DC
/// tables first; then the blocks of the MCU. A table or block is identified by its address, so that
/// no address is computed from a number. What is rarely needed stays in device memory.
template <bool kSkips>
struct SharedTables {
  static constexpr int kIndexBits = kSkips ? kSkipBits : kSymbolIndexBits;
  static constexpr std::uint32_t kTableBytes = 4u << kIndexBits;

  struct alignas(16) Block {
    BlockTables tables;
    std::uint32_t phase_before;
  };
  static_assert(sizeof(Block) == 16, "shared_table_words() counts with it");

  SharedAddress entries, blocks;
  std::uint32_t side_bytes;  ///< of the DC tables, which those of AC follow
  const WalkTables* rare;

  __device__ std::uint32_t look_up(SharedAddress table, std::uint32_t index) const {
    return load_word(table, index);
  }
  __device__ std::uint32_t long_symbol(SharedAddress table, std::uint32_t next16) const {
    const bool is_ac = table - entries >= side_bytes;
    const std::uint32_t pair = (table - entries - (is_ac ? side_bytes : 0)) / kTableBytes;
    return long_symbol_of(*rare, is_ac ? kAcSide : kDcSide, pair, next16);
  }
  __device__ SharedAddress ac_of(SharedAddress dc) const { return dc + side_bytes; }
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

using SkipTables = SharedTables<true>;
using SymbolTables = SharedTables<false>;

/// Starts copies of a scan's tables to `to`, which is aligned to 16 bytes: the entries by side, and
/// behind them the list of blocks.
template <bool kSkips>
__device__ SharedTables<kSkips> load_tables(const ScanArgs& a, std::uint32_t* to,
                                            std::uint32_t threads) {
  using Tables = SharedTables<kSkips>;
  using Block = typename Tables::Block;
  constexpr auto kBlockBytes = static_cast<std::uint32_t>(sizeof(Block));
  const WalkTables& tables = *a.tables;
  const auto& from = kSkips ? tables.skip : tables.symbol;
  const auto pairs = static_cast<std::uint32_t>(a.cycle.pairs);
  const std::uint32_t side_entries = pairs << Tables::kIndexBits;
  copy_words(from[kDcSide], to, side_entries, threads);
  copy_words(from[kAcSide], to + side_entries, side_entries, threads);
  auto* const blocks_to = reinterpret_cast<Block*>(to + 2 * side_entries);
  const SharedAddress entries = shared_address(to), blocks = shared_address(blocks_to);
  const auto period = static_cast<std::uint32_t>(a.cycle.period);
  for (std::uint32_t i = threadIdx.x; i < period; i += threads) {
    const std::uint32_t next = i + 1 == period ? 0 : i + 1;
    blocks_to[i] = {{entries + a.cycle.pair[i] * Tables::kTableBytes, blocks + next * kBlockBytes},
                    i == 0 ? period - 1 : i - 1};
  }
  return {entries, blocks, kept(4 * side_entries), a.tables};
}

/// `Bits` of a walk in shared memory; bit 0 is the first one of `words`.
struct SharedWords {
  using Place = SharedAddress;
  SharedAddress array;
  __device__ explicit SharedWords(const std::uint32_t* words) : array(shared_address(words)) {}
  __device__ Place place(std::uint32_t bit) const { return array + bit / 32 * 4; }
  static __device__ std::uint32_t take(Place& at) {
    const std::uint32_t word = load_word(at);
    at += 4;
    return word;
  }
  /// Without a branch.
  static __device__ void shift_if(std::uint32_t condition, WordPair& words, Place& at) {
    asm volatile(
        "{\n\t"
        ".reg .pred shifts;\n\t"
        "setp.ne.u32 shifts, %3, 0;\n\t"
        "@shifts mov.u32 %0, %1;\n\t"
        "@shifts ld.shared.u32 %1, [%2];\n\t"
        "@shifts add.u32 %2, %2, 4;\n\t"
        "}"
        : "+r"(words.first), "+r"(words.second), "+r"(at)
        : "r"(condition));
  }
};

/// In place of the number of a CTA's first word: it has no subsequences.
inline constexpr std::uint32_t kNoWord = 0xFFFFFFFF;

/// Whether no thread before this one of its warp has the condition.
__device__ inline bool is_first_of_warp(bool condition) {
  const unsigned all = __ballot_sync(0xFFFFFFFF, condition);
  return condition && (all & ((1u << threadIdx.x % 32) - 1)) == 0;
}

/// The word to begin copies with that a subsequence needs which starts at bit `start`. `kUnit` is
/// that of chunk_words().
template <std::uint32_t kUnit = kVectorWords>
__device__ std::uint32_t first_word_of(std::uint32_t start) {
  return start / 32 / kUnit * kUnit;
}
/// Starts copies of the words that `subs` subsequences need, from word `first` of the clean bytes
/// on, but of none after the last. `first` is from first_word_of().
template <std::uint32_t kUnit = kVectorWords>
__device__ void copy_clean_words(const std::uint32_t* words, std::uint32_t word_count,
                                 std::uint32_t first, std::uint32_t subs, std::uint32_t* to,
                                 std::uint32_t threads) {
  const std::uint32_t count = min(words_of_subsequences(subs) + kUnit - 1, word_count - first);
  const std::uint32_t whole = count / kVectorWords * kVectorWords, left = count - whole;
  copy_words<2>(words + first, to, whole, threads);
  if (threadIdx.x < left)
    __pipeline_memcpy_async(to + whole + threadIdx.x, words + first + whole + threadIdx.x, 4);
}

/// Waits for the thread's own copies; the caller synchronises the CTA.
__device__ inline void wait_for_copies() {
  __pipeline_commit();
  __pipeline_wait_prior(0);
}

}  // namespace zerorun
