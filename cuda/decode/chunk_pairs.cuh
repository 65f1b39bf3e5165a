// What a CTA of sync_subsequences() does when it knows where its subsequences begin: it leaves them
// to decode_subsequences(), or decodes them to pairs itself. The words of bits are still in shared
// memory. The pairs are collected where the ends of the walks were, while one warp learns from the
// chunks before where they belong, and go to device memory in whole lines.
// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/decode/chunk_sync.cuh"
#include "cuda/decode/own_subsequence.cuh"
#include "cuda/decode/pair_sink.hpp"

namespace zerorun::chunk_sync {

static_assert(kSymbolIndexBits <= kSkipBits, "symbol tables take the place of the skip tables");
static_assert(kWarmSubsequences >= 32, "the first warp has no subsequence, and looks back");

/// In place of where a block's first pair is collected: the block does not begin in the chunk.
inline constexpr std::uint16_t kBeginsElsewhere = 0xFFFF;
static_assert(4 * sync_words(kMostEnds) <= kBeginsElsewhere);

/// The number of the thread's subsequence in the scan; the thread has one.
__device__ inline std::uint32_t own_number(const ScanArgs& a) {
  return blockIdx.x * a.plan.chunk_subsequences + threadIdx.x - kWarmSubsequences;
}
__device__ inline bool has_own(const ScanArgs& a) {
  return threadIdx.x >= kWarmSubsequences && threadIdx.x <= last_subsequence(a);
}

/// The thread's subsequence, but for what is before it.
__device__ OwnSubsequence take_own(const ScanArgs& a, ChunkMemory& s) {
  const std::uint32_t sub = threadIdx.x, last = last_subsequence(a);
  OwnSubsequence own{};
  if (!has_own(a) || !s.exists(sub)) return own;
  own.entry = s.entry(sub);
  own.exit = sub == last ? s.published_end : s.entry(sub + 1);
  own.bit = s.start[sub] + unpack_walk_state(own.entry).overshoot;
  own.stop = s.start[sub] + kSubsequenceBits + unpack_walk_state(own.exit).overshoot;
  own.end = s.end[sub];
  own.interval = s.interval(sub);
  const WalkTally tally = tally_of_step(s.tally[sub]);
  own.blocks = static_cast<std::uint16_t>(tally.blocks);
  own.pairs = static_cast<std::uint16_t>(tally.pairs);
  own.is_first = s.ends.head[sub];
  own.is_last = !s.ends.open[sub];
  return own;
}

/// Wide levels are left to a second walk: a branch for them takes 4 of the 82 us of a 1920x1080
/// photo at q90 (H200).
struct CollectedPairs {
  /// What stands for a block is the address that gets its first pair, and for a pair its bytes from
  /// the chunk's first one, so that no step computes them.
  static constexpr std::uint32_t kBlockUnits = sizeof(std::uint16_t);
  static constexpr std::uint32_t kPairUnits = sizeof(std::uint16_t);

  SharedAddress pairs, blocks;
  /// Blocks from this one on are not to be stored: a damaged interval may end inside one that has
  /// the number of the next interval's first.
  SharedAddress blocks_end = 0;
  std::uint32_t most = 0;  ///< SSSS of all levels that may be wide

  __device__ PairTarget place(const PairTarget& target) const {
    return {blocks + target.block * kBlockUnits, target.pair * kPairUnits};
  }
  __device__ void block_starts_if(bool condition, std::uint32_t block, std::uint32_t pair) const {
    if (condition && block < blocks_end) store_half(block, static_cast<std::uint16_t>(pair));
  }
  __device__ std::uint32_t put(std::uint32_t number, const WalkPair& first,
                               const WalkPair& second) {
    store_pair(number, first);
    most = max(most, first.ssss);
    store_pair(number, second);
    return number;
  }
  __device__ bool has_wide() const { return most > kMostNarrowSsss << kFirstSsssShift; }
  __device__ void finish(std::uint32_t) const {}

 private:
  __device__ void store_pair(std::uint32_t& number, const WalkPair& pair) const {
    if (!pair.exists) return;
    store_half(pairs + number, pack_pair(pair.index, pair.level));
    number += kPairUnits;
  }
};

/// Stores again the pairs that have no room for their levels, and those levels.
struct WidePairs {
  static constexpr std::uint32_t kBlockUnits = 1;

  SharedAddress pairs;
  std::int16_t* wide;

  __device__ PairTarget place(const PairTarget& target) const { return target; }
  __device__ void block_starts_if(bool, std::uint32_t, std::uint32_t) const {}
  __device__ std::uint32_t put(std::uint32_t number, const WalkPair& first,
                               const WalkPair& second) const {
    if (first.exists && is_wide(first.level)) {
      store_half(pairs + 2 * number, pack_pair(first.index, kWideLevel));
      wide[number] = static_cast<std::int16_t>(first.level);
    }
    increment_if(first.exists, number);
    increment_if(second.exists, number);
    return number;
  }
  __device__ void finish(std::uint32_t) const {}
};

/// Copies from shared memory, at a multiple of 4 with a word behind it, to any place.
__device__ inline void store_halves(std::uint16_t* to, const std::uint16_t* from,
                                    std::uint32_t count) {
  const auto lead =
      min(static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(to) / 2 % 2), count);
  const auto* const words = reinterpret_cast<const std::uint32_t*>(from);
  auto* const whole = reinterpret_cast<std::uint32_t*>(to + lead);
  const std::uint32_t selector = lead == 0 ? 0x3210 : 0x5432;
  for (std::uint32_t i = threadIdx.x; i < (count - lead) / 2; i += kThreads)
    whole[i] = __byte_perm(words[i], words[i + 1], selector);
  if (threadIdx.x == 0 && lead != 0) to[0] = from[0];
  if (threadIdx.x == 1 && (count - lead) % 2 != 0) to[count - 1] = from[count - 1];
}

/// Returns the thread's subsequence with what is before it in the chunk, and the chunk's counts,
/// which it publishes. After its barrier the memory from s.start on is free.
__device__ OwnSubsequence place_own(const ScanArgs& a, ChunkMemory& s, std::uint64_t& sum) {
  OwnSubsequence own = take_own(a, s);
  std::uint64_t place;
  CountSum(s.sum_scan).ExclusiveSum(pack_counts(own.blocks, own.pairs), place, sum);
  own.block = blocks_of(place);
  own.pair = pairs_of(place);
  if (threadIdx.x == 0) publish_counts(a, sum);
  return own;
}

/// Leaves the chunk, whose entries are found, to decode_subsequences().
__device__ void leave_chunk(const ScanArgs& a, ChunkMemory& s) {
  std::uint64_t sum;
  const OwnSubsequence own = place_own(a, s, sum);
  if (has_own(a)) a.own[own_number(a)] = own;
}

/// Decodes the chunk, whose entries are found. All threads have passed a barrier since they used
/// the skip tables, whose memory is `for_tables`. Returns pack_counts() up to the chunk's end; or
/// 0, if the scan was given up.
__device__ std::uint64_t decode_chunk(const ScanArgs& a, ChunkMemory& s,
                                      std::uint32_t* for_tables) {
  std::uint64_t sum;
  const OwnSubsequence own = place_own(a, s, sum);
  const SymbolTables tables = load_symbols(a.tables, a.cycle, for_tables, kThreads);
  const std::uint32_t blocks = blocks_of(sum), pairs = pairs_of(sum);
  const std::uint32_t blocks_from = (pairs + kMostWalkPairs) / 2 * 2;
  const bool fits = blocks_from + blocks + kMostWalkPairs <= s.pair_room(a.plan.most_ends);
  std::uint16_t* const collected = s.pair_memory();
  if (threadIdx.x == 0 && fits)
    collected[blocks_from] = collected[blocks_from + blocks] = kBeginsElsewhere;
  const volatile std::uint32_t& unsettled = a.summary->unsettled;
  wait_for_copies();
  if (__syncthreads_or(threadIdx.x == 0 && unsettled != 0)) return 0;

  const SharedWords bits(s.words);
  const std::uint32_t origin = s.first_word * 32;
  const PairTarget local{own.block, own.pair};
  CollectedPairs sink{shared_address(collected), shared_address(collected + blocks_from)};
  const SharedAddress behind = sink.place({own.block + own.blocks, 0}).block;
  sink.blocks_end = kept(own.is_last ? behind : 0xFFFFFFFFu);
  std::uint32_t faults = 0;
  if (threadIdx.x < 32) {
    const std::uint64_t before = count_before(a, sum);
    if (threadIdx.x == 0) s.before = before;
  } else if (fits && own.end != 0) {
    faults = decode_own(bits, origin, tables, own, local, sink);
  }
  const bool any_wide = __syncthreads_or(sink.has_wide());
  if (own.end != 0 && !has_right_blocks(a, own, s.interval(threadIdx.x), s.before))
    faults |= kFaultCount;
  if (!fits_scan(a, s.before + sum)) {
    faults |= kFaultCount;
  } else if (fits) {
    const std::uint32_t first_block = blocks_of(s.before), first_pair = pairs_of(s.before);
    if (any_wide) {
      WidePairs again{sink.pairs, a.wide + first_pair};
      if (sink.has_wide()) (void)decode_own(bits, origin, tables, own, local, again);
      __syncthreads();
    }
    store_halves(a.pairs + first_pair, collected, pairs);
    for (std::uint32_t i = threadIdx.x; i <= blocks; i += kThreads) {
      const std::uint16_t at = collected[blocks_from + i];
      if (at != kBeginsElsewhere)
        a.block_pair[first_block + i] = first_pair + at / CollectedPairs::kPairUnits;
    }
  } else if (own.end != 0) {
    faults |= decode_directly(a, bits, origin, tables, own, s.before);
  }
  if (faults != 0) atomicOr(&a.summary->walk_faults, faults);
  return s.before + sum;
}

}  // namespace zerorun::chunk_sync
