// How a walk over a subsequence or a group stores its pairs.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace zerorun {

/// Stores four pairs at once. If 32 threads each store single words at distant places, the memory
/// pipe is so busy that look-ups wait. A 3848x2168 photo at q90 on an H200, subsequences of 544
/// bits: 83 us a frame with single words, 49 with four words and tables of 12 bits instead of 11,
/// 43 with 11 bits again and tables that are copied asynchronously. (Eight words, a whole sector,
/// take 9 us less of 32 where the L2 is cold, but 74.5 us instead of 71.9 a frame of 3840x2160 with
/// eight at once on an H100. Collecting a chunk's pairs in shared memory and writing whole lines
/// gains 1 us in a single frame, but its shared memory costs 5 with eight frames at once.)
struct PairSink {
  std::uint32_t *pairs, *block_pair;
  std::uint32_t whole_from;  ///< number of the first four pairs that are all the walk's own
  std::uint32_t first = 0, second = 0, third = 0;

  __device__ void block_starts_if(bool condition, std::uint32_t block, std::uint32_t pair) const {
    if (condition) block_pair[block] = pair;
  }
  /// Stores one pair after the other, without a branch.
  __device__ void put_if(bool condition, std::uint32_t index, std::uint32_t word) {
    if (condition && index < whole_from) pairs[index] = word;
    if (condition && index >= whole_from && index % 4 == 3)
      *reinterpret_cast<uint4*>(pairs + index - 3) = {first, second, third, word};
    first = condition ? second : first;
    second = condition ? third : second;
    third = condition ? word : third;
  }
  __device__ void finish(std::uint32_t end) const {
    if (end <= whole_from) return;
    const std::uint32_t left = end % 4;
    if (left >= 1) pairs[end - 1] = third;
    if (left >= 2) pairs[end - 2] = second;
    if (left == 3) pairs[end - 3] = first;
  }
};

}  // namespace zerorun
