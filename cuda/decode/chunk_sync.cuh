// The shared memory of a CTA of sync_subsequences(), and a walk over one of its subsequences.
// SPDX-License-Identifier: MIT
#pragma once

#include <cub/block/block_scan.cuh>

#include "cuda/decode/scan_progress.cuh"
#include "cuda/decode/subsequence_ends.hpp"
#include "cuda/decode/scan_memory.hpp"
#include "cuda/decode/shared_tables.cuh"
#include "cuda/decode/scan_kernels.hpp"

namespace zerorun::chunk_sync {

inline constexpr int kThreads = kSyncThreads;
static_assert(kMediumChunk % kSegmentSubsequences == 0);
static_assert(kWarmSubsequences % kSegmentSubsequences == 0);

using IntervalMax = cub::BlockScan<std::uint32_t, kThreads>;
using CountSum = cub::BlockScan<std::uint64_t, kThreads, cub::BLOCK_SCAN_WARP_SCANS>;
using SkipTables = SharedTables<kSkipBits>;

inline constexpr std::uint16_t kNoOffer = 0xFFFF;

/// `kMost`: subsequences that there is room for. Those behind the CTA's last one do not exist.
template <std::uint32_t kMost>
struct ChunkMemory {
  static constexpr std::uint32_t kSubsequences = kMost;
  static_assert(kSubsequences % 32 == 0 && kSubsequences <= 256 && kSubsequences <= kThreads);

  union {
    std::uint32_t words[chunk_words(kSubsequences, kSyncCopyUnit)];
    typename IntervalMax::TempStorage max_scan;  ///< used before the words are loaded
    ScanProgress progress;                       ///< used before that
  };
  typename CountSum::TempStorage sum_scan;
  std::uint64_t before;  ///< pack_counts() of the chunks before
  std::uint32_t listed[2];
  std::uint32_t first_word;
  /// State before the chunk's first own subsequence; then before one behind a serial walk.
  std::uint32_t first_number, first_state;
  std::uint32_t foreign_sub;  ///< the first that begins in a state that was not kept
  std::uint8_t segment_first[kSubsequences /
                             kSegmentSubsequences];  ///< number of the end before each own segment
  std::uint16_t offered;  ///< an end that all subsequences, or those behind, may have; or kNoOffer
  std::uint16_t published_end;
  bool published;  ///< the next chunk knows `published_end`
  /// The interval of each subsequence, counted from `base_interval`: a register for it would be
  /// spilled.
  std::uint16_t interval_step[kSubsequences];
  std::uint32_t base_interval;
  // From here on the memory is that of the pairs, when the subsequences are decoded.
  alignas(16) std::uint32_t start[kSubsequences],
      end[kSubsequences];               ///< bits; `end` is the interval's, or 0 for no subsequence
  std::uint32_t tally[kSubsequences];   ///< as a step; at first the interval that begins there
  SubsequenceEnds<kSubsequences> ends;  ///< last member: it may have fewer lines than its type

  __device__ bool exists(std::uint32_t sub) const { return end[sub] != 0; }
  __device__ std::uint32_t interval(std::uint32_t sub) const {
    return base_interval + interval_step[sub];
  }
  __device__ std::uint16_t& item(std::uint32_t number) {
    return ends.line[number / kSubsequences].item[number % kSubsequences];
  }
  /// pack() of the state before a subsequence. It takes the place of an item that is no longer
  /// needed.
  __device__ std::uint16_t& entry(std::uint32_t sub) { return item(sub); }

  __device__ std::uint16_t* pair_memory() { return reinterpret_cast<std::uint16_t*>(start); }
  /// Halfwords of it, if there is memory for so many ends.
  static __device__ std::uint32_t pair_room(std::uint32_t of_ends) {
    using Ends = SubsequenceEnds<kMost>;
    constexpr std::size_t kBeforeLines =
        offsetof(ChunkMemory, ends) + offsetof(Ends, line) - offsetof(ChunkMemory, start);
    return (kBeforeLines + of_ends * static_cast<std::uint32_t>(sizeof(typename Ends::Line))) / 2;
  }
};

template <std::uint32_t kMost>
constexpr bool host_counts_alike() {
  using Memory = ChunkMemory<kMost>;
  constexpr std::size_t kCounted = 4 * sync_words(kMostEnds, kMost);
  return sizeof(Memory) <= kCounted && sizeof(Memory) + 32 > kCounted &&
         sizeof(typename SubsequenceEnds<kMost>::Line) == 4 * sync_end_words(kMost);
}
static_assert(host_counts_alike<kMediumRoom>() && host_counts_alike<kLargeRoom>());
static_assert(3 * (sync_shared_bytes(2, kSparseEnds, kLargeRoom) + 1024) <= 228 * 1024 &&
                  3 * (sync_shared_bytes(2, kMostEnds, kMediumRoom) + 1024) <= 228 * 1024,
              "three CTAs in a processor of Hopper");

__device__ inline std::uint32_t last_subsequence(const WalkArgs& a) {
  return kWarmSubsequences + a.chunk_subsequences - 1;
}

/// Walks a subsequence from the state before it; returns the state after it, packed.
template <typename Shared>
__device__ std::uint32_t walk(const WalkArgs& a, const Shared& s, const SkipTables& tables,
                              std::uint32_t sub, const WalkState& state, WalkTally& tally) {
  const std::uint32_t start = s.start[sub];
  const std::uint32_t origin = s.first_word * 32, end = s.end[sub] - origin;
  const WalkSpan span{min(start - origin + kSubsequenceBits, end), end};
  std::uint32_t bit = start - origin + state.overshoot, phase = state.phase, k = state.k;
  tally = skip_subsequence(SharedWords(s.words), tables, span, bit, phase, k);
  return pack({bit - span.stop, phase, k});
}

}  // namespace zerorun::chunk_sync
