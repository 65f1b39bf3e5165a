// How a walk over a subsequence or a group stores its pairs.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/decode/subsequence_walk.hpp"

namespace zerorun {

/// Stores eight pairs at once. If 32 threads each store single pairs at distant places, the memory
/// pipe is so busy that look-ups wait. (With pairs of 32 bits, a 3848x2168 photo at q90 on an H200,
/// subsequences of 544 bits: 83 us a frame with single ones, 49 with four at once.)
struct PairSink {
  std::uint16_t* pairs;
  std::int16_t* wide;  ///< the level of each pair for which the pair itself has no room
  std::uint32_t* block_pair;
  std::uint32_t whole_from;    ///< number of the first eight pairs that are all the walk's own
  std::uint32_t last[4] = {};  ///< the last eight pairs, the last one highest

  __device__ void block_starts_if(bool condition, std::uint32_t block, std::uint32_t pair) const {
    if (condition) block_pair[block] = pair;
  }
  /// Stores one pair after the other, without a branch that is mostly taken.
  __device__ void put_if(bool condition, std::uint32_t number, std::uint32_t index,
                         std::int32_t level) {
    const bool is_far = condition && is_wide(level);
    if (is_far) wide[number] = static_cast<std::int16_t>(level);
    const std::uint32_t pair = pack_pair(index, is_far ? kWideLevel : level);
    if (condition && number < whole_from) pairs[number] = static_cast<std::uint16_t>(pair);
    const std::uint32_t next[] = {
        __funnelshift_r(last[0], last[1], 16), __funnelshift_r(last[1], last[2], 16),
        __funnelshift_r(last[2], last[3], 16), last[3] >> 16 | pair << 16};
#pragma unroll
    for (int i = 0; i < 4; ++i) last[i] = condition ? next[i] : last[i];
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
