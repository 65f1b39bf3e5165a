// A CTA of sync_subsequences(): its shared memory, a walk over one of its subsequences, and what it
// tells the CTAs behind it.
// SPDX-License-Identifier: MIT
#pragma once

#include <cub/block/block_scan.cuh>

#include "cuda/decode/scan_progress.cuh"
#include "cuda/decode/shared_tables.cuh"

namespace zerorun::chunk_sync {

inline constexpr int kThreads = kSyncThreads;
static_assert(kMediumChunk % kSegmentSubsequences == 0);
static_assert(kWarmSubsequences % kSegmentSubsequences == 0);
static_assert(kRoom % 32 == 0 && kRoom <= 256 && kRoom <= kThreads);

using IntervalMax = cub::BlockScan<std::uint32_t, kThreads>;
using CountSum = cub::BlockScan<std::uint64_t, kThreads, cub::BLOCK_SCAN_WARP_SCANS>;
using SkipTables = SharedTables<kSkipBits>;

inline constexpr std::uint16_t kNoOffer = 0xFFFF;

/// Subsequences behind the CTA's last one do not exist.
struct ChunkMemory {
  union {
    std::uint32_t words[chunk_words(kRoom, kSyncCopyUnit)];
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
  std::uint8_t segment_first[kRoom / kSegmentSubsequences];  ///< number of the end before each own
                                                             ///< segment
  std::uint16_t offered;  ///< an end that all subsequences, or those behind, may have; or kNoOffer
  std::uint16_t published_end;
  bool published;  ///< the next chunk knows `published_end`
  /// The interval of each subsequence, counted from `base_interval`: a register for it would be
  /// spilled.
  std::uint16_t interval_step[kRoom];
  std::uint32_t base_interval;
  // From here on the memory is that of the pairs, when the subsequences are decoded.
  alignas(16) std::uint32_t start[kRoom], end[kRoom];  ///< bits; `end` is the interval's, or 0 for
                                                       ///< no subsequence
  std::uint32_t tally[kRoom];   ///< as a step; at first the interval that begins there
  SubsequenceEnds<kRoom> ends;  ///< last member: it may have fewer lines than its type

  __device__ bool exists(std::uint32_t sub) const { return end[sub] != 0; }
  __device__ std::uint32_t interval(std::uint32_t sub) const {
    return base_interval + interval_step[sub];
  }
  __device__ std::uint16_t& item(std::uint32_t number) {
    return ends.line[number / kRoom].item[number % kRoom];
  }
  /// pack() of the state before a subsequence. It takes the place of an item that is no longer
  /// needed.
  __device__ std::uint16_t& entry(std::uint32_t sub) { return item(sub); }

  __device__ std::uint16_t* pair_memory() { return reinterpret_cast<std::uint16_t*>(start); }
  /// Halfwords of it, if there is memory for so many ends.
  static __device__ std::uint32_t pair_room(std::uint32_t of_ends) {
    using Ends = SubsequenceEnds<kRoom>;
    constexpr std::size_t kBeforeLines =
        offsetof(ChunkMemory, ends) + offsetof(Ends, line) - offsetof(ChunkMemory, start);
    return (kBeforeLines + of_ends * static_cast<std::uint32_t>(sizeof(Ends::Line))) / 2;
  }
};
static_assert(sizeof(ChunkMemory) <= 4 * sync_words(kMostEnds) &&
              sizeof(ChunkMemory) + 32 > 4 * sync_words(kMostEnds) &&
              sizeof(SubsequenceEnds<kRoom>::Line) == 4 * kEndWords);
static_assert(3 * (sync_shared_bytes(2, kSparseEnds) + 1024) <= 228 * 1024,
              "three CTAs in a processor of Hopper");

/// The number of the CTA's last subsequence.
__device__ inline std::uint32_t last_subsequence(const ScanArgs& a) {
  return kWarmSubsequences + a.plan.chunk_subsequences - 1;
}

/// With this bit a chunk publishes the state in which it ends, for the next one.
inline constexpr std::uint32_t kPublished = 1u << 31, kStateMask = 0xFFFF;

/// What both strategies use.
struct Chunk {
  const ScanArgs& a;
  ChunkMemory& s;
  const SkipTables& tables;

  /// Walks a subsequence from the state before it; returns the state after it, packed.
  __device__ std::uint32_t walk(std::uint32_t sub, const WalkState& state, WalkTally& tally) const {
    const std::uint32_t start = s.start[sub];
    const std::uint32_t origin = s.first_word * 32, end = s.end[sub] - origin;
    const WalkSpan span{min(start - origin + kSubsequenceBits, end), end};
    std::uint32_t bit = start - origin + state.overshoot, phase = state.phase, k = state.k;
    tally = skip_subsequence(SharedWords(s.words), tables, span, bit, phase, k);
    return pack({bit - span.stop, phase, k});
  }

  /// Whether the state before a subsequence is one after that before it.
  __device__ bool follows_another(std::uint32_t sub) const {
    return sub < kRoom && s.exists(sub) && !s.ends.head[sub];
  }
  /// Whether the chunk's first own subsequence begins where the chunk before ends.
  __device__ bool follows_chunk() const {
    return blockIdx.x > 0 && s.exists(kWarmSubsequences) && !s.ends.head[kWarmSubsequences];
  }
  /// Publishes the state in which the chunk ends. Called by one thread.
  __device__ void publish(std::uint32_t state) const {
    s.published = true;
    s.published_end = static_cast<std::uint16_t>(state);
    volatile std::uint32_t* const exits = a.chunk_exit;
    exits[blockIdx.x] = kPublished | s.published_end;
  }
  /// The state before the chunk's first own subsequence; waits until the chunk before publishes it.
  /// Called by one thread.
  __device__ std::uint32_t await_first_state() const {
    if (!follows_chunk()) return 0;
    const volatile std::uint32_t* const exits = a.chunk_exit;
    std::uint32_t word = 0;
    while ((word & kPublished) == 0) word = exits[blockIdx.x - 1];
    return word & kStateMask;
  }

  /// Ends the attempt: the starts of some subsequences were not found.
  __device__ void give_up() const {
    volatile std::uint32_t& unsettled = a.summary->unsettled;
    unsettled = 1;
  }
  /// Whether `subsequences` more may be walked serially. Once it says no, the attempt has failed.
  __device__ bool may_walk_serially(std::uint32_t subsequences) const {
    const volatile std::uint32_t& unsettled = a.summary->unsettled;
    if (unsettled != 0) return false;
    const bool may = atomicAdd(&a.summary->serial_walks, subsequences) < a.plan.most_serial_walks;
    if (!may) give_up();
    return may;
  }
};

}  // namespace zerorun::chunk_sync
