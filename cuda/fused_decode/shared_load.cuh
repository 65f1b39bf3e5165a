// Loads from shared memory by 32-bit addresses. A compiler that knows an array by a pointer adds
// its base to every index and masks what it shifts; the walks over rows are bound by the number of
// their instructions.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/fused_decode/row_walk.hpp"

namespace zerorun {

using SharedAddress = std::uint32_t;

__device__ inline SharedAddress shared_address(const void* memory) {
  return static_cast<SharedAddress>(__cvta_generic_to_shared(memory));
}

/// Word `index` of an array. The loads are volatile: what other threads have copied there is read
/// behind the barrier that stands before them.
__device__ inline std::uint32_t load_word(SharedAddress array, std::uint32_t index) {
  std::uint32_t word;
  asm volatile(
      "{\n\t"
      ".reg .u32 at;\n\t"
      "mad.lo.u32 at, %1, 4, %2;\n\t"
      "ld.shared.u32 %0, [at];\n\t"
      "}"
      : "=r"(word)
      : "r"(index), "r"(array));
  return word;
}

/// Of an array of words, the one that has bit `bit`, and the next.
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

/// The four words at a multiple of 16.
__device__ inline uint4 load_four_words(SharedAddress at) {
  uint4 words;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(words.x), "=r"(words.y), "=r"(words.z), "=r"(words.w)
               : "r"(at));
  return words;
}

}  // namespace zerorun
