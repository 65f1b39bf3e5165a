// Sums and masks over the lanes of a warp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace zerorun {

inline constexpr unsigned kFullWarp = 0xFFFFFFFFu;

/// Sum over the lanes of a warp, in each of them.
__device__ inline std::uint64_t warp_sum(std::uint64_t value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(kFullWarp, value, step);
  return value;
}

// Sum, union, least and greatest of 32-bit values over the lanes of a warp, in each of them. Turing
// has no instruction for them.

template <typename T, typename Combine>
__device__ inline T warp_combine(T value, Combine combine) {
  static_assert(sizeof(T) == 4);
#pragma unroll
  for (int step = 16; step > 0; step /= 2)
    value = combine(value, __shfl_xor_sync(kFullWarp, value, step));
  return value;
}

template <typename T>
__device__ inline T warp_add(T value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(kFullWarp, value);
#else
  return warp_combine(value, [](T a, T b) { return a + b; });
#endif
}

__device__ inline std::uint32_t warp_or(std::uint32_t value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_or_sync(kFullWarp, value);
#else
  return warp_combine(value, [](std::uint32_t a, std::uint32_t b) { return a | b; });
#endif
}

template <typename T>
__device__ inline T warp_min(T value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_min_sync(kFullWarp, value);
#else
  return warp_combine(value, [](T a, T b) { return a < b ? a : b; });
#endif
}

template <typename T>
__device__ inline T warp_max(T value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_max_sync(kFullWarp, value);
#else
  return warp_combine(value, [](T a, T b) { return a > b ? a : b; });
#endif
}

/// Inclusive sum over the lanes of a warp. The shuffle itself says whether there is a lane so far
/// to the left, which takes half of the instructions of a comparison and a selection.
__device__ inline unsigned warp_inclusive_sum(unsigned value) {
#pragma unroll
  for (unsigned distance = 1; distance < 32; distance *= 2)
    asm volatile(
        "{\n\t"
        ".reg .u32 left;\n\t"
        ".reg .pred is_there;\n\t"
        "shfl.sync.up.b32 left|is_there, %0, %1, 0, 0xFFFFFFFF;\n\t"
        "@is_there add.u32 %0, %0, left;\n\t"
        "}"
        : "+r"(value)
        : "r"(distance));
  return value;
}

// Lane l holds the coefficients l and l + 32 of a block.

/// Bit l is `low` of lane l, bit l + 32 its `high`.
__device__ __forceinline__ std::uint64_t ballot64(bool low, bool high) {
  return std::uint64_t{__ballot_sync(kFullWarp, low)} |
         std::uint64_t{__ballot_sync(kFullWarp, high)} << 32;
}

/// The bits below position k, 0..63.
__device__ __forceinline__ std::uint64_t bits_below(int k) { return (std::uint64_t{1} << k) - 1; }

__device__ __forceinline__ bool has_bit(std::uint64_t mask, int k) { return (mask >> k & 1) != 0; }

/// -1 if there is none.
__device__ __forceinline__ int highest_bit(std::uint64_t mask) {
  return 63 - __clzll(static_cast<long long>(mask));
}

}  // namespace zerorun
