// What the fused decoder's kernels pass to each other in device memory.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "cuda/decode/subsequence_walk.hpp"

namespace zerorun {

/// Of the scan that is being decoded. Zero when its first kernel starts.
struct ScanSummary {
  std::uint32_t faults;       ///< kFault… bits
  std::uint32_t clean_bytes;  ///< of all intervals
  std::uint32_t unsettled;    ///< not 0: a chunk's subsequences were not found
  std::uint32_t late_walks;   ///< subsequences that were walked one after the other
  std::uint32_t chunks_done;
};

/// Zero bytes behind the clean ones, for those who read words ahead.
inline constexpr std::uint32_t kCleanPadding = 32;
/// Words that may be read.
ZR_HD std::uint32_t clean_words(const ScanSummary& summary) {
  return (summary.clean_bytes + kCleanPadding) / 4;
}

/// The same in pinned host memory, where the device writes it.
struct ScanReport {
  std::uint32_t faults;
  std::uint32_t late_fault;  ///< not 0: a DC value that no encoder makes
  std::uint32_t consumed_bytes;
};

/// Subsequences that one CTA finds or decodes: with 160, 192 and 224, sync_subsequences() takes 57,
/// 59 and 55 us for a 3840x2160 frame at q90 (H200).
inline constexpr std::uint32_t kChunkSubsequences = 224;
/// Words that are read for `subsequences` subsequences in a line, wherever they begin: at most so
/// many.
constexpr std::uint32_t words_of_subsequences(std::uint32_t subs) {
  return subs * (kSubsequenceBits / 32) + 5;
}

/// Instead of a chunk's first word: it has no subsequences.
inline constexpr std::uint32_t kNoWord = 0xFFFFFFFF;

/// What is known of a subsequence before it is decoded. `end` 0: there is no such subsequence.
struct alignas(16) SubsequenceStart {
  std::uint32_t bit;  ///< of its first codeword
  std::uint32_t end;  ///< of its interval
  std::uint32_t interval;
  std::uint32_t block, pair;        ///< numbers before it in its chunk
  std::uint32_t phase, k;           ///< before its first codeword
  std::uint16_t is_first, is_last;  ///< of its interval
};

/// Blocks and pairs, in one word so that both are added at once.
ZR_HD std::uint64_t pack_counts(std::uint32_t blocks, std::uint32_t pairs) {
  return std::uint64_t{blocks} << 32 | pairs;
}
ZR_HD std::uint32_t blocks_of(std::uint64_t counts) {
  return static_cast<std::uint32_t>(counts >> 32);
}
ZR_HD std::uint32_t pairs_of(std::uint64_t counts) { return static_cast<std::uint32_t>(counts); }

}  // namespace zerorun
