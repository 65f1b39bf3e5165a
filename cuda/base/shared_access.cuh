// Shared memory by 32-bit addresses, which saves instructions: with a pointer to an array the
// compiler adds its base to every index and masks shifted values, and the loops that code and
// decode symbols are bound by their number of instructions.
//
// The accesses are volatile, so that none of them moves in front of the barrier before it.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace zerorun {

using SharedAddress = std::uint32_t;

__device__ inline SharedAddress shared_address(const void* memory) {
  return static_cast<SharedAddress>(__cvta_generic_to_shared(memory));
}

/// Word `index` of an array that starts kOffset bytes behind `array`.
template <int kOffset = 0>
__device__ inline std::uint32_t load_word(SharedAddress array, std::uint32_t index = 0) {
  std::uint32_t word;
  asm volatile(
      "{\n\t"
      ".reg .u32 at;\n\t"
      "mad.lo.u32 at, %1, 4, %2;\n\t"
      "ld.shared.u32 %0, [at + %3];\n\t"
      "}"
      : "=r"(word)
      : "r"(index), "r"(array), "n"(kOffset));
  return word;
}

/// Halfword `index` of an array.
__device__ inline std::uint32_t load_half(SharedAddress array, std::uint32_t index) {
  std::uint16_t half;
  asm volatile(
      "{\n\t"
      ".reg .u32 at;\n\t"
      "mad.lo.u32 at, %1, 2, %2;\n\t"
      "ld.shared.u16 %0, [at];\n\t"
      "}"
      : "=h"(half)
      : "r"(index), "r"(array));
  return half;
}

/// The two words at a multiple of 8.
__device__ inline uint2 load_two_words(SharedAddress at) {
  uint2 words;
  asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(words.x), "=r"(words.y) : "r"(at));
  return words;
}

__device__ inline void store_half(SharedAddress at, std::uint16_t half) {
  asm volatile("st.shared.u16 [%0], %1;" ::"r"(at), "h"(half));
}
__device__ inline void store_word(SharedAddress at, std::uint32_t word) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(at), "r"(word));
}

/// Adds to a word; returns what it was.
__device__ inline std::uint32_t add_at(SharedAddress at, std::uint32_t number) {
  std::uint32_t before;
  asm volatile("atom.shared.add.u32 %0, [%1], %2;"
               : "=r"(before)
               : "r"(at), "r"(number)
               : "memory");
  return before;
}

/// Sets the bits of `word` too.
__device__ inline void or_word(SharedAddress at, std::uint32_t word) {
  asm volatile("red.shared.or.b32 [%0], %1;" ::"r"(at), "r"(word) : "memory");
}

/// Stores a word and goes on to the next one. Where a condition guards this, the addition stays one
/// instruction with a predicate: the compiler would add to a copy of the address and copy it back.
__device__ inline void push_word(SharedAddress& at, std::uint32_t word) {
  store_word(at, word);
  asm volatile("add.u32 %0, %0, 4;" : "+r"(at));
}

}  // namespace zerorun
