// What the fast decoder's kernels pass to each other in device memory.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "cuda/decode/subsequence_walk.hpp"
#include "cuda/decode/tuning.hpp"

namespace zerorun {

/// State of the scan that is being decoded. Zero when its first kernel starts.
struct ScanSummary {
  std::uint32_t faults;       ///< kFault… bits
  std::uint32_t walk_faults;  ///< likewise, found by the kernels that walk over subsequences
  std::uint32_t clean_bytes;  ///< the sum of all intervals
  /// Not 0: the starts of a chunk's subsequences were not found, or it published a wrong end.
  std::uint32_t unsettled;
  std::uint32_t serial_walks;  ///< subsequences that were walked serially
  std::uint32_t taken_tiles;   ///< by CTAs of unstuff_scan() that read pinned memory
  std::uint32_t outcome;       ///< faults_of(), written by the last kernel
  std::uint64_t end;           ///< as the state of a tile, when all is known (scan_progress.cuh)
};

/// What makes the pairs useless; kFault… bits. Other CTAs may just be finding more.
ZR_HD std::uint32_t faults_of(const ScanSummary& summary) {
  return summary.faults | summary.walk_faults | (summary.unsettled != 0 ? kFaultUnsettled : 0);
}

/// Zero bytes after the clean ones, because words are read ahead.
inline constexpr std::uint32_t kCleanPadding = 32;
/// Words of clean bytes that may be read.
ZR_HD std::uint32_t clean_words(const ScanSummary& summary) {
  return (summary.clean_bytes + kCleanPadding) / 4;
}

/// What the host gets to know. Pinned memory, written by the device.
struct ScanReport {
  std::uint32_t faults;
  std::uint32_t late_fault;  ///< not 0: a DC value that no encoder makes
  std::uint32_t consumed_bytes;
};

/// The most words that `subs` consecutive subsequences lie in, wherever they begin.
constexpr std::uint32_t words_of_subsequences(std::uint32_t subs) {
  return subs * (kSubsequenceBits / 32) + 5;
}

/// A subsequence whose start is known.
struct alignas(16) OwnSubsequence {
  std::uint32_t bit, stop;  ///< where its first codeword begins, and that of the next one
  std::uint32_t end;        ///< where its interval ends; 0 for no subsequence
  std::uint32_t interval;
  std::uint32_t block, pair;  ///< numbers before it, in its chunk
  /// pack() before its first codeword, and before that of the next one. `exit` and `stop` are
  /// unused in the last subsequence of an interval.
  std::uint16_t entry, exit;
  std::uint16_t blocks : 15, is_last : 1;  ///< `blocks` and `pairs`: its WalkTally
  std::uint16_t pairs : 15, is_first : 1;  ///< `is_first`, `is_last`: of its interval
};
static_assert(sizeof(OwnSubsequence) == 32);

/// The most pairs and blocks in a subsequence, whatever its bits are and wherever a walk over them
/// begins and ends: all its symbols begin in it, as a step to two of them takes the first alone
/// where the second would end behind it. So many pairs more than a chunk counted may be collected,
/// and so many pairs, wide levels and blocks more than a scan may have be written.
inline constexpr std::uint32_t kMostWalkPairs = kSubsequenceBits + 2 * kMostStepBits + 2;

/// Pairs behind the scan's last one that transform_blocks() may read, because it reads eight at a
/// time. They are not used, but have to be there.
inline constexpr std::uint32_t kPairsReadBehind = kPairsPerThread - 1;

/// In place of the number of a CTA's first word: it has no subsequences.
inline constexpr std::uint32_t kNoWord = 0xFFFFFFFF;

/// Blocks and pairs in one word, so that one addition adds both.
ZR_HD std::uint64_t pack_counts(std::uint32_t blocks, std::uint32_t pairs) {
  return std::uint64_t{blocks} << 32 | pairs;
}
ZR_HD std::uint32_t blocks_of(std::uint64_t counts) {
  return static_cast<std::uint32_t>(counts >> 32);
}
ZR_HD std::uint32_t pairs_of(std::uint64_t counts) { return static_cast<std::uint32_t>(counts); }

}  // namespace zerorun
