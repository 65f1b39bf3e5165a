// How the walks load a scan's words from shared memory.
// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/base/shared_access.cuh"
#include "cuda/decode/subsequence_walk.hpp"

namespace zerorun {

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

}  // namespace zerorun
