// A warp's view of the 64 coefficients of a block: lane l holds positions l and l + 32.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace zerorun {

inline constexpr unsigned kFullWarp = 0xFFFFFFFF;

/// Bit l is `low` of lane l, bit l + 32 its `high`.
__device__ __forceinline__ std::uint64_t ballot64(bool low, bool high) {
  return std::uint64_t{__ballot_sync(kFullWarp, low)} |
         std::uint64_t{__ballot_sync(kFullWarp, high)} << 32;
}

/// The bits below position k, 0..63.
__device__ __forceinline__ std::uint64_t below(int k) { return (std::uint64_t{1} << k) - 1; }

__device__ __forceinline__ bool has_bit(std::uint64_t mask, int k) { return (mask >> k & 1) != 0; }

/// -1 if there is none.
__device__ __forceinline__ int highest_bit(std::uint64_t mask) {
  return 63 - __clzll(static_cast<long long>(mask));
}

}  // namespace zerorun
