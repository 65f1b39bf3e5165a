// How a walk over a subsequence or a group stores its pairs.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/decode/subsequence_walk.hpp"

namespace zerorun {

/// The last eight pairs, the last one highest. Shifts one in without a branch.
__device__ inline void shift_in_if(bool condition, std::uint32_t pair, std::uint32_t (&last)[4]) {
#ifdef __CUDA_ARCH__
  asm("{\n\t"
      ".reg .pred shifts;\n\t"
      "setp.ne.u32 shifts, %5, 0;\n\t"
      "@shifts shf.r.wrap.b32 %0, %0, %1, 16;\n\t"
      "@shifts shf.r.wrap.b32 %1, %1, %2, 16;\n\t"
      "@shifts shf.r.wrap.b32 %2, %2, %3, 16;\n\t"
      "@shifts prmt.b32 %3, %3, %4, 0x5432;\n\t"
      "}"
      : "+r"(last[0]), "+r"(last[1]), "+r"(last[2]), "+r"(last[3])
      : "r"(pair), "r"(static_cast<std::uint32_t>(condition)));
#endif
}

/// Stores eight pairs at once. If 32 threads each store single pairs at distant places, the memory
/// pipe is so busy that look-ups wait. (With pairs of 32 bits, a 3848x2168 photo at q90 on an H200,
/// subsequences of 544 bits: 83 us a frame with single ones, 49 with four at once.)
struct PairSink {
  std::uint16_t* pairs;
  std::int16_t* wide;  ///< the level of each pair that has no room for it
  std::uint32_t* block_pair;
  std::uint32_t whole_from;    ///< number of the first eight pairs that are all the walk's own
  std::uint32_t last[4] = {};  ///< the last eight pairs, the last one highest

  __device__ void block_starts_if(bool condition, std::uint32_t block, std::uint32_t pair) const {
    if (condition) block_pair[block] = pair;
  }
  /// Stores one pair after the other, mostly without a branch.
  __device__ void put_if(bool condition, std::uint32_t number, std::uint32_t index,
                         std::int32_t level) {
    std::uint16_t pair = pack_pair(index, level);
    if (condition && is_wide(level)) {
      wide[number] = static_cast<std::int16_t>(level);
      pair = pack_pair(index, kWideLevel);
    }
    if (condition && number < whole_from) pairs[number] = pair;
    shift_in_if(condition, pair, last);
    if (condition && number >= whole_from && number % 8 == 7)
      *reinterpret_cast<uint4*>(pairs + number - 7) = {last[0], last[1], last[2], last[3]};
  }
  /// Stores what is left of the last eight.
  __device__ void finish(std::uint32_t end) {
    const std::uint32_t left = end % 8, dropped = 8 - left;
    if (end <= whole_from || left == 0) return;
    std::uint16_t* to = pairs + (end - left);
    // The first one becomes the lowest.
    if ((dropped & 4) != 0) last[0] = last[2], last[1] = last[3];
    if ((dropped & 2) != 0) last[0] = last[1], last[1] = last[2], last[2] = last[3];
    if ((dropped & 1) != 0) {
      last[0] = __funnelshift_r(last[0], last[1], 16);
      last[1] = __funnelshift_r(last[1], last[2], 16);
      last[2] = __funnelshift_r(last[2], last[3], 16);
      last[3] >>= 16;
    }
    if ((left & 4) != 0) {
      *reinterpret_cast<uint2*>(to) = {last[0], last[1]};
      last[0] = last[2], last[1] = last[3];
      to += 4;
    }
    if ((left & 2) != 0) {
      *reinterpret_cast<std::uint32_t*>(to) = last[0];
      last[0] = last[1];
      to += 2;
    }
    if ((left & 1) != 0) *to = static_cast<std::uint16_t>(last[0]);
  }
};

}  // namespace zerorun
