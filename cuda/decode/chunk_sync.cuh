// What a CTA of sync_subsequences() has of its subsequences, and a walk over one of them.
// SPDX-License-Identifier: MIT
#pragma once

#include <cub/block/block_scan.cuh>
#include <cub/warp/warp_scan.cuh>

#include "cuda/decode/subsequence_ends.hpp"
#include "cuda/decode/shared_memory.hpp"
#include "cuda/decode/shared_tables.cuh"
#include "cuda/decode/sync_subsequences.hpp"

namespace zerorun::chunk_sync {

/// Three such CTAs fit into a processor, by shared memory and by registers. Frames of 3840x2160 at
/// q90, eight at once, on an H200: 66 us each; 74 with two CTAs of 512 threads, which are no faster
/// with a single frame.
inline constexpr int kThreads = 384;
inline constexpr int kWarps = kThreads / 32;
/// Subsequences before the chunk that are walked too, so that its own first subsequence is mostly
/// found without waiting for the chunk before: 9 Kibit.
inline constexpr std::uint32_t kWarmSubsequences = 32;
inline constexpr std::uint32_t kSubsequences = kWarmSubsequences + kChunkSubsequences;
static_assert(kWarmSubsequences % kSegmentSubsequences == 0 && kSubsequences % 32 == 0 &&
              kSubsequences <= 256 && kSubsequences <= kThreads);
/// A scan in which more subsequences than these have to be walked one after the other is given up;
/// the staged decoder is the better one for it. All of a small image of noise may be.
inline constexpr std::uint32_t kMostLateWalks = 256, kMostLateWalksOfChunk = 2;
inline constexpr std::uint32_t kPublished = 1u << 31;

using IntervalMax = cub::BlockScan<std::uint32_t, kThreads>;
using CountSum = cub::BlockScan<std::uint64_t, kThreads>;
using SkipTables = SharedTables<kSkipBits>;
using ListPlace = cub::WarpScan<std::uint32_t>;

struct Shared {
  union {
    std::uint32_t words[words_of_subsequences(kSubsequences)];
    typename IntervalMax::TempStorage max_scan;  ///< before the words are there
    typename CountSum::TempStorage sum_scan;     ///< after they were needed
  };
  std::uint32_t start[kSubsequences],
      end[kSubsequences];              ///< bits; the end is the interval's, 0: no subsequence
  std::uint32_t tally[kSubsequences];  ///< as a step; before, the intervals that begin there
  typename ListPlace::TempStorage list_place[kWarps];
  std::uint32_t listed[2];
  std::uint32_t first_word, own_first_word;
  std::uint32_t first_number, first_state;  ///< before the chunk's first own subsequence
  std::uint8_t segment_first[kSubsequences /
                             kSegmentSubsequences];  ///< number before the segment, of own ones
  bool published, last_chunk;
  SubsequenceEnds<kSubsequences> ends;  ///< the last: not all of its lines may be there

  __device__ bool exists(std::uint32_t sub) const { return end[sub] != 0; }
  __device__ std::uint16_t& item(std::uint32_t number) {
    return ends.line[number / kSubsequences].item[number % kSubsequences];
  }
  /// pack() of the state before a subsequence, when there are no more items.
  __device__ std::uint16_t& entry(std::uint32_t sub) { return item(sub); }
};

static_assert(sizeof(Shared) <= 4 * sync_words(kMostEnds) &&
                  sizeof(Shared) + 16 > 4 * sync_words(kMostEnds) &&
                  sizeof(SubsequenceEnds<kSubsequences>::Line) == 4 * kSyncEndWords,
              "the host counts with the same size");
static_assert(3 * (sync_shared_bytes(2, kUsualEnds) + 1024) <= 228 * 1024,
              "three CTAs in a processor of Hopper");

/// Walks a subsequence from the state before it; returns the one behind it.
__device__ inline std::uint32_t walk(const SyncArgs& a, const Shared& s, const SkipTables& tables,
                                     std::uint32_t sub, const WalkState& state, WalkTally& tally) {
  const std::uint32_t start = s.start[sub];
  const std::uint32_t origin = s.first_word * 32, end = s.end[sub] - origin;
  const WalkSpan span{min(start - origin + kSubsequenceBits, end), end};
  std::uint32_t bit = start - origin + state.overshoot, phase = state.phase, k = state.k;
  tally = skip_subsequence(SharedWords(s.words), tables, span, bit, phase, k);
  return pack({bit - span.stop, phase, k});
}

}  // namespace zerorun::chunk_sync
