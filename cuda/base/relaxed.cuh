// Relaxed loads and stores of 64 and 128 bits, which other CTAs see whole. They imply no order with
// other accesses: everything that is passed on stands in the word itself.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace zerorun {

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

}  // namespace zerorun
