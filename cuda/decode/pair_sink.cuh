// Where a walk over subsequences or groups stores its pairs.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace zerorun {

/// Stores four pairs at once: single words of 32 threads, each in a subsequence of its own, keep
/// the memory pipe so busy that the look-ups wait. A 3848x2168 photo at q90 on an H200,
/// subsequences of 544 bits: 83 us a frame with single words, 49 with four and tables of 12 bits
/// instead of 11, 43 with 11 again and tables that are copied asynchronously. (A chunk's pairs in
/// shared memory first, and from there in whole lines, gain 1 us in a single frame, and in eight at
/// once the room that it takes costs 5.)
struct PairSink {
  std::uint32_t *pairs, *block_pair;
  std::uint32_t whole_from;  ///< the first four that are the walk's own
  std::uint32_t first = 0, second = 0, third = 0;

  __device__ void block_starts_if(bool condition, std::uint32_t block, std::uint32_t pair) const {
    if (condition) block_pair[block] = pair;
  }
  /// One pair after the other, without a branch.
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
