// Where the codewords of a scan begin: what one decoder has found, for another to go on from.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/arith/host_device.hpp"

namespace zerorun {

/// A subsequence before it is decoded. `end` is 0 if there is no such subsequence.
struct alignas(16) SubsequenceStart {
  std::uint32_t bit;  ///< where its first codeword begins
  std::uint32_t end;  ///< where its interval ends
  std::uint32_t interval;
  std::uint32_t block, pair;        ///< numbers before it in its chunk
  std::uint32_t phase, k;           ///< before its first codeword
  std::uint16_t is_first, is_last;  ///< of its interval
};

/// The number of an interval's first subsequence; `first_byte` is the interval's first clean byte,
/// `bytes` the length of a subsequence. This needs no prefix sum over the intervals, but the last
/// number of an interval may belong to no subsequence.
ZR_HD std::uint64_t first_subsequence(std::uint64_t interval, std::uint64_t first_byte,
                                      std::uint32_t bytes) {
  return first_byte / bytes + interval;
}

/// The starts of a scan's subsequences by their numbers, in device memory.
struct SubsequenceStarts {
  const SubsequenceStart* start = nullptr;  ///< null: nothing is known
  std::uint64_t count = 0;
  std::int32_t bits = 0;  ///< of a subsequence
};

}  // namespace zerorun
