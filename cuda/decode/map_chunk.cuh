// The map strategy, second part: each subsequence of a chunk was walked from the states that are
// possible before it. Each chunk publishes the state in which it ends; from that of the chunk
// before, the maps lead to the state before each subsequence.
// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/decode/chunk_sync.cuh"

namespace zerorun::chunk_sync {

/// With this bit a chunk publishes the state in which it ends, for the next one.
inline constexpr std::uint32_t kPublished = 1u << 31, kStateMask = 0xFFFF;

/// Called by one thread.
template <typename Shared>
__device__ void publish(const WalkArgs& a, Shared& s, std::uint32_t state) {
  s.published = true;
  s.published_end = static_cast<std::uint16_t>(state);
  volatile std::uint32_t* const exits = a.chunk_exit;
  exits[blockIdx.x] = kPublished | s.published_end;
}

/// Follows the chunk from end `number` before its first own subsequence, segment by segment. Called
/// by one thread.
template <typename Shared>
__device__ void follow_chunk(const WalkArgs& a, Shared& s, std::uint32_t number) {
  s.first_number = number;
  const std::uint32_t last = last_subsequence(a) / kSegmentSubsequences;
#pragma unroll 4
  for (std::uint32_t segment = kWarmSubsequences / kSegmentSubsequences; segment <= last;
       ++segment) {
    s.segment_first[segment] = static_cast<std::uint8_t>(number);
    number = s.ends.follow_whole_segment(segment, number);
  }
}
/// The number of the end before a subsequence of the chunk; after follow_chunk().
template <typename Shared>
__device__ std::uint32_t number_before(const Shared& s, std::uint32_t sub) {
  const std::uint32_t segment = sub / kSegmentSubsequences;
  return s.ends.follow_subsequences(segment * kSegmentSubsequences, sub, s.segment_first[segment]);
}

/// Whether the chunk's first own subsequence begins where the chunk before ends.
template <typename Shared>
__device__ bool follows_chunk(const Shared& s) {
  return blockIdx.x > 0 && s.exists(kWarmSubsequences) && !s.ends.head[kWarmSubsequences];
}

/// The state before the chunk's first own subsequence; waits until the chunk before publishes it.
/// Called by one thread.
template <typename Shared>
__device__ std::uint32_t await_first_state(const WalkArgs& a, const Shared& s) {
  if (!follows_chunk(s)) return 0;
  const volatile std::uint32_t* const exits = a.chunk_exit;
  std::uint32_t word = 0;
  while ((word & kPublished) == 0) word = exits[blockIdx.x - 1];
  return word & kStateMask;
}

/// The number of the end in which the chunk ends from end `number` before its first own
/// subsequence, or kForeignEnd.
template <typename Shared>
__device__ std::uint32_t end_of_chunk(const WalkArgs& a, const Shared& s, std::uint32_t number) {
  const std::uint32_t last = last_subsequence(a) / kSegmentSubsequences;
#pragma unroll 4
  for (std::uint32_t segment = kWarmSubsequences / kSegmentSubsequences; segment <= last; ++segment)
    number = s.ends.follow_whole_segment(segment, number);
  return number;
}

/// Publishes the end early if it is the same from every known end before the first own subsequence:
/// then a chunk waits for one other, not for all before it. The right end may be another;
/// find_entries() finds that out, and the attempt fails. Without it photos take 1.6 to 4.4 times as
/// long (H200). Called by a warp.
template <typename Shared>
__device__ void publish_common_end(const WalkArgs& a, Shared& s) {
  const std::uint32_t lane = threadIdx.x, count = s.ends.count[kWarmSubsequences - 1];
  const std::uint32_t end = end_of_chunk(a, s, lane < count ? lane : kForeignEnd);
  const std::uint32_t common = __shfl_sync(0xFFFFFFFF, end, 0);
  const bool agree = __all_sync(0xFFFFFFFF, lane >= count || end == common);
  if (lane == 0 && agree && common != kForeignEnd)
    publish(a, s, s.ends.line[common].state[last_subsequence(a)]);
}

/// Publishes the end if the maps lead to it.
template <typename Shared>
__device__ void publish_known_end(const WalkArgs& a, Shared& s) {
  const std::uint32_t last = last_subsequence(a);
  const std::uint32_t number = s.ends.head[last] ? 0 : number_before(s, last);
  if (number != kForeignEnd) publish(a, s, s.ends.line[number].reached[last]);
}

/// Finds the state in which the chunk's first own subsequence begins, and follows the maps from it.
template <typename Shared>
__device__ void join_chunks(const WalkArgs& a, Shared& s) {
  const std::uint32_t segments = last_subsequence(a) / kSegmentSubsequences;  // but the first
  for (std::uint32_t i = threadIdx.x; i < segments * (kMostEnds + 1); i += kThreads)
    s.ends.follow_segment(1 + i % segments, i / segments);
  if (threadIdx.x == 0) s.published = false;
  __syncthreads();
  if (threadIdx.x < 32 && follows_chunk(s)) publish_common_end(a, s);
  __syncthreads();
  if (threadIdx.x == 0) {
    s.first_state = await_first_state(a, s);
    follow_chunk(a, s, follows_chunk(s) ? s.ends.find(kWarmSubsequences - 1, s.first_state) : 0);
    if (!s.published) publish_known_end(a, s);
  }
  __syncthreads();
}

/// Ends the attempt: the starts of some subsequences were not found.
__device__ inline void give_up(const WalkArgs& a) {
  volatile std::uint32_t& unsettled = a.summary->unsettled;
  unsettled = 1;
}

/// Whether `subsequences` more may be walked serially. Once it says no, the attempt has failed.
__device__ inline bool may_walk_serially(const WalkArgs& a, std::uint32_t subsequences) {
  const volatile std::uint32_t& unsettled = a.summary->unsettled;
  if (unsettled != 0) return false;
  const bool may = atomicAdd(&a.summary->serial_walks, subsequences) < a.most_serial_walks;
  if (!may) give_up(a);
  return may;
}

/// One thread walks serially from subsequence `sub`, which begins in a state that was not kept,
/// until a walk ends in one that was, or the next subsequence begins in a known one, or a walk
/// passes many blocks and ends as it began. Returns the subsequence behind; it begins in end number
/// s.first_number of the one before, and in s.first_state.
template <typename Shared>
__device__ std::uint32_t walk_serially(const WalkArgs& a, Shared& s, const SkipTables& tables,
                                       std::uint32_t sub) {
  std::uint32_t state = s.first_state, number = kForeignEnd;
  s.offered = kNoOffer;
  for (; sub < Shared::kSubsequences && s.exists(sub) && !s.ends.head[sub]; ++sub) {
    if (number != kForeignEnd || s.offered != kNoOffer) break;
    if (!may_walk_serially(a, 1)) {
      for (; sub < Shared::kSubsequences; ++sub) s.end[sub] = 0;
      break;
    }
    WalkTally tally;
    const std::uint32_t before = state;
    s.entry(sub) = static_cast<std::uint16_t>(state);
    state = walk(a, s, tables, sub, unpack_walk_state(state), tally);
    s.tally[sub] = make_step(tally);
    number = s.ends.find(sub, state);
    if (state == before && tally.blocks >= kOfferBlocks)
      s.offered = static_cast<std::uint16_t>(state);
  }
  s.first_number = number;
  s.first_state = state;
  return sub;
}

/// A serial walk passed many blocks and ended as it began, in s.offered: pictures of one colour and
/// gradients repeat a few bits. All subsequences behind it are walked from there at once. Returns
/// the one, from `first` on, whose walk ends otherwise first; it begins in s.offered, too. Without
/// it one colour at q75 with optimal tables takes 1.2 ms and not 0.17, more than nvJPEG (H100).
template <typename Shared>
__device__ std::uint32_t repeat_walk(const WalkArgs& a, Shared& s, const SkipTables& tables,
                                     std::uint32_t first) {
  const std::uint32_t sub = threadIdx.x, state = s.offered;
  const bool behind = sub >= first && sub < Shared::kSubsequences;
  WalkTally tally{};
  const bool repeats = behind && s.exists(sub) && !s.ends.head[sub] && s.ends.open[sub] &&
                       walk(a, s, tables, sub, unpack_walk_state(state), tally) == state;
  if (sub == 0) s.foreign_sub = Shared::kSubsequences;
  __syncthreads();
  if (behind && !repeats) atomicMin(&s.foreign_sub, sub);
  __syncthreads();
  const std::uint32_t end = s.foreign_sub;
  if (behind && sub < end) {
    s.entry(sub) = static_cast<std::uint16_t>(state);
    s.tally[sub] = make_step(tally);
  }
  __syncthreads();
  return end;
}

/// From end `number` before `from` to the end before `to`, wherever they lie in their segments.
template <typename Shared>
__device__ std::uint32_t follow_behind(const Shared& s, std::uint32_t from, std::uint32_t to,
                                       std::uint32_t number) {
  for (; from < to && from % kSegmentSubsequences != 0; ++from)
    number = s.ends.follow(from, number);
  return s.ends.follow_subsequences(from, to, number);
}

/// Finds the state before each own subsequence, and its tally. Where the right walk comes to an end
/// that found no room, one thread walks serially until it reaches a state that was kept, and from
/// there on all threads follow the maps again.
template <typename Shared>
__device__ void find_entries(const WalkArgs& a, Shared& s, const SkipTables& tables) {
  const std::uint32_t last = last_subsequence(a);
  const std::uint32_t sub = threadIdx.x;
  const bool own = sub >= kWarmSubsequences && sub < Shared::kSubsequences;
  const auto is_own = [&] { return own && s.exists(sub); };
  std::uint32_t number = is_own() && !s.ends.head[sub] ? number_before(s, sub) : 0;
  std::uint32_t settled = kWarmSubsequences;
  for (;;) {
    const bool foreign = is_own() && sub >= settled && number == kForeignEnd;
    if (sub == 0) s.foreign_sub = Shared::kSubsequences;
    if (is_own() && sub >= settled && !foreign) {
      s.entry(sub) = s.ends.head[sub] ? std::uint16_t{0} : s.ends.line[number].state[sub - 1];
      s.tally[sub] = s.ends.line[number].step[sub];
    }
    if (!__syncthreads_or(foreign)) break;
    if (foreign) atomicMin(&s.foreign_sub, sub);
    __syncthreads();
    const std::uint32_t first = s.foreign_sub;
    if (sub + 1 == first && own && sub >= settled) s.first_state = s.ends.line[number].reached[sub];
    __syncthreads();
    if (sub == 0) s.foreign_sub = walk_serially(a, s, tables, first);
    __syncthreads();
    settled = s.foreign_sub;
    if (s.offered != kNoOffer && s.first_number == kForeignEnd) {
      __syncthreads();  // all have read s.foreign_sub
      settled = repeat_walk(a, s, tables, settled);
    }
    if (is_own() && sub >= settled)
      number = s.ends.head[sub] ? 0 : follow_behind(s, settled, sub, s.first_number);
    __syncthreads();
  }
  if (sub == last) {
    const std::uint32_t end =
        settled > last || !s.exists(last) ? s.first_state : s.ends.line[number].reached[last];
    if (!s.published)
      publish(a, s, end);
    else if (end != s.published_end)
      give_up(a);
  }
  __syncthreads();
}

}  // namespace zerorun::chunk_sync
