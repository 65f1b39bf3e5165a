// Where the codewords of a scan begin: what one decoder has found, for another to go on from.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/arith/host_device.hpp"

namespace zerorun {

/// Where a subsequence's first codeword begins, and the state before it. All 0 if there is no such
/// subsequence.
struct alignas(8) SubsequenceStart {
  std::uint32_t bit;
  std::uint16_t phase, k;
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
