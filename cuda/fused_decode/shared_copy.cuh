// Copies from device memory to shared memory that many threads start at once and wait for together,
// without a register in between.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_pipeline.h>

#include <cstdint>

#include "cuda/fused_decode/row_tables.hpp"
#include "cuda/fused_decode/row_walk.hpp"

namespace zerorun {

/// A multiple of 4 words, both ends aligned to 16 bytes.
template <int kThreads>
__device__ void copy_words(const void* from, std::uint32_t* to, std::uint32_t words) {
  for (std::uint32_t i = threadIdx.x; i < words / 4; i += kThreads)
    __pipeline_memcpy_async(to + 4 * i, static_cast<const std::uint32_t*>(from) + 4 * i, 16);
}

/// The long codes of the DC tables, then those of the AC tables.
template <int kThreads>
__device__ void copy_codes(const RowTables& tables, std::uint32_t pairs, std::uint32_t* to) {
  constexpr std::uint32_t kWords = sizeof(LongCodes) / 4;
  const std::uint32_t side_words = pairs * kWords;
  for (std::uint32_t i = threadIdx.x; i < 2 * side_words; i += kThreads) {
    const std::uint32_t side = i / side_words;
    const auto* const from = reinterpret_cast<const std::uint32_t*>(tables.long_codes[side]);
    __pipeline_memcpy_async(to + i, from + i - side * side_words, 4);
  }
}

/// `count` words from `first` on, each with the next one.
template <int kThreads>
__device__ void copy_word_pairs(const std::uint32_t* words, std::uint32_t word_count,
                                std::uint32_t first, std::uint32_t count, WordPair* to) {
  const std::uint32_t most = word_count - 1 - first;
  for (std::uint32_t i = threadIdx.x; i < min(count, most); i += kThreads) {
    WordPair* const pair = to + padded_place(i);
    __pipeline_memcpy_async(&pair->first, words + first + i, 4);
    __pipeline_memcpy_async(&pair->second, words + first + i + 1, 4);
  }
}

/// The thread's own copies are there; the caller synchronises.
__device__ inline void wait_for_copies() {
  __pipeline_commit();
  __pipeline_wait_prior(0);
}

}  // namespace zerorun
