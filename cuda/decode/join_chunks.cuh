// Each subsequence of a chunk was walked from all states that are possible before it. Here the
// right one is found: each chunk tells the next one the state in which it ends.
// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/decode/chunk_sync.cuh"

namespace zerorun::chunk_sync {

// What a chunk tells the next one: first how it was walked, then the state in which it ends. Never
// 0.
inline constexpr std::uint32_t kPublished = 1u << 31, kEndsListed = 1u << 30, kNoEnds = 1u << 29,
                               kStateMask = 0xFFFF;

__device__ inline void tell(const WalkArgs& a, std::uint32_t word) {
  volatile std::uint32_t* const exits = a.chunk_exit;
  exits[blockIdx.x] = word;
}
__device__ inline void publish(const WalkArgs& a, std::uint32_t state) {
  tell(a, kPublished | state);
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

/// Tells the next chunk the state in which the last subsequence ends, if it is known already.
template <typename Shared>
__device__ void publish_known_end(const WalkArgs& a, Shared& s) {
  const std::uint32_t last = last_subsequence(a);
  const std::uint32_t number = s.ends.head[last] ? 0 : number_before(s, last);
  s.published = number != kForeignEnd;
  if (!s.published) return;
  s.published_end = s.ends.line[number].reached[last];
  publish(a, s.published_end);
}

/// Whether the chunk's first own subsequence begins where the chunk before ends.
template <typename Shared>
__device__ bool follows_chunk(const Shared& s) {
  return blockIdx.x > 0 && s.exists(kWarmSubsequences) && !s.ends.head[kWarmSubsequences];
}

/// Waits until the chunk before told something of `what`. Called by one thread.
__device__ inline std::uint32_t await_chunk_before(const WalkArgs& a,
                                                   std::uint32_t what = 0xFFFFFFFF) {
  const volatile std::uint32_t* const exits = a.chunk_exit;
  std::uint32_t word = 0;
  while ((word & what) == 0) word = exits[blockIdx.x - 1];
  return word;
}
/// The state before the chunk's first own subsequence, which the chunk before tells. Called by one
/// thread.
template <typename Shared>
__device__ std::uint32_t await_first_state(const WalkArgs& a, const Shared& s) {
  return follows_chunk(s) ? await_chunk_before(a, kPublished) & kStateMask : 0;
}

/// Waits for the chunk before and follows the chunk from the state that it tells, unless that is
/// end `taken` before the chunk's first own subsequence. Returns, to all threads, whether it is
/// not.
template <typename Shared>
__device__ bool begins_otherwise(const WalkArgs& a, Shared& s, std::uint32_t taken) {
  if (threadIdx.x == 0) s.first_state = await_first_state(a, s);
  __syncthreads();
  const std::uint32_t number = s.ends.find(kWarmSubsequences - 1, s.first_state);
  if (number == taken) return false;
  if (threadIdx.x == 0) follow_chunk(a, s, number);
  __syncthreads();
  return true;
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

/// Tells the next chunk the state in which this one ends if that is the same from every known end
/// before the first own subsequence. The right one may be another; find_entries() finds that out.
/// Called by a warp.
template <typename Shared>
__device__ void publish_common_end(const WalkArgs& a, Shared& s) {
  const std::uint32_t lane = threadIdx.x, count = s.ends.count[kWarmSubsequences - 1];
  const std::uint32_t end = end_of_chunk(a, s, lane < count ? lane : kForeignEnd);
  const std::uint32_t common = __shfl_sync(0xFFFFFFFF, end, 0);
  const bool agree = __all_sync(0xFFFFFFFF, lane >= count || end == common);
  if (lane != 0 || !agree || common == kForeignEnd) return;
  s.published = true;
  s.published_end = s.ends.line[common].state[last_subsequence(a)];
  publish(a, s.published_end);
}

/// Finds the state in which the chunk's first own subsequence begins. If all states
/// kWarmSubsequences earlier lead to the same one, and it leads to the chunk's end, that is assumed
/// until the chunk before, which is mostly done when all entries are found, tells its end. It may
/// be another: in 68 of 273 chunks of noise at q90. Nearly always both lead to the same end; where
/// they do not, find_entries() gives the scan up. (Chunks whose walks meet late could wait for the
/// chunk before: small letters at q97 took 2.6 ms, one chunk after the other. Where chunks are few
/// they do.)
/// Where they lead to several, these mostly meet before the chunk's end. Then the end is told
/// before the chunk before has told its own, and a chunk waits for one other, not for all: by a
/// simulation, 130 of 130 chunks of a page of text at q90 with optimal tables, and 166 of 167 at
/// q97, and none told a wrong one.
template <typename Shared>
__device__ void join_chunks(const WalkArgs& a, Shared& s) {
  const std::uint32_t segments = last_subsequence(a) / kSegmentSubsequences;  // but the first
  for (std::uint32_t i = threadIdx.x; i < segments * (kMostEnds + 1); i += kThreads)
    s.ends.follow_segment(1 + i % segments, i / segments);
  __syncthreads();
  const bool needed = s.exists(kWarmSubsequences) && !s.ends.head[kWarmSubsequences];
  if (threadIdx.x < 32) {
    const std::uint32_t lane = threadIdx.x, count = s.ends.count[0];
    const std::uint32_t number =
        needed ? s.ends.follow_from_first(kWarmSubsequences, lane < count ? lane : kForeignEnd) : 0;
    const std::uint32_t first = __shfl_sync(0xFFFFFFFF, number, 0);
    const bool agree = (a.assumes || !follows_chunk(s)) &&
                       __all_sync(0xFFFFFFFF, lane >= count || number == first) &&
                       first != kForeignEnd;
    if (lane == 0) {
      s.published = false;
      s.taken = static_cast<std::uint8_t>(first);
      follow_chunk(a, s, first);
      if (agree) publish_known_end(a, s);
      s.assumed = s.published;
    }
    __syncwarp();
    if (!agree && a.foretells) publish_common_end(a, s);
  }
  __syncthreads();
  if (follows_chunk(s) && !s.assumed) begins_otherwise(a, s, s.taken);
}

/// Gives the scan up: the starts of some subsequences were not found.
__device__ inline void give_up(const WalkArgs& a) {
  volatile std::uint32_t& unsettled = a.summary->unsettled;
  unsettled = 1;
}

/// Gives the scan up because too many subsequences would have to be walked one after the other.
__device__ inline void give_up_late(const WalkArgs& a) {
  atomicOr(&a.summary->walk_faults, kFaultLateWalks);
  give_up(a);
}

/// Whether more subsequences may be walked by one thread alone; adds them to `walked`. Once it says
/// no, the scan is given up.
__device__ inline bool may_walk_late(const WalkArgs& a, std::uint32_t& walked, std::uint32_t most,
                                     std::uint32_t subsequences) {
  const volatile std::uint32_t& unsettled = a.summary->unsettled;
  if (unsettled != 0) return false;
  const bool may = atomicAdd(&walked, subsequences) < most;
  if (!may) give_up_late(a);
  return may;
}

/// Walks on, by one thread, from subsequence `sub`, which begins in a state that was not kept,
/// until a walk ends in one that was, or the next subsequence begins in a known one, or a walk
/// passes many blocks and ends as it began. Returns the subsequence behind; it begins in end number
/// s.first_number of the one before, and in s.first_state. `of_chunk` counts the chunk's late
/// walks.
template <typename Shared>
__device__ std::uint32_t walk_late(const WalkArgs& a, Shared& s, const SkipTables& tables,
                                   std::uint32_t sub, std::uint32_t& of_chunk) {
  std::uint32_t state = s.first_state, number = kForeignEnd;
  s.offered = kNoOffer;
  for (; sub < Shared::kSubsequences && s.exists(sub) && !s.ends.head[sub]; ++sub) {
    if (number != kForeignEnd || s.offered != kNoOffer) break;
    if (of_chunk++ == kMostLateWalksOfChunk) give_up_late(a);
    if (!may_walk_late(a, a.summary->late_walks, a.most_late_walks, 1)) {
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

/// A late walk passed many blocks and ended as it began, in s.offered: pictures of one colour and
/// gradients repeat a few bits. All subsequences behind it are walked from there at once. Returns
/// the one, from `first` on, whose walk ends otherwise first; it begins in s.offered, too. (One
/// thread needed 1.3 ms for one colour of 1920x1080 at q75 with optimal tables on an H100, two
/// chunks.)
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
__device__ std::uint32_t follow_late(const Shared& s, std::uint32_t from, std::uint32_t to,
                                     std::uint32_t number) {
  for (; from < to && from % kSegmentSubsequences != 0; ++from)
    number = s.ends.follow(from, number);
  return s.ends.follow_subsequences(from, to, number);
}

/// Finds the state before each own subsequence, and its tally. Where the right walk comes to an end
/// that found no room, one thread goes on until it meets an end that did, and from there on all
/// threads follow the ends again.
/// A chunk that was cut off when another gave the scan up does not know its end, so it does not say
/// that it told a wrong one.
template <typename Shared>
__device__ void find_entries(const WalkArgs& a, Shared& s, const SkipTables& tables) {
  const std::uint32_t last = last_subsequence(a);
  const std::uint32_t sub = threadIdx.x;
  const bool own = sub >= kWarmSubsequences && sub < Shared::kSubsequences;
  const auto is_own = [&] { return own && s.exists(sub); };
  std::uint32_t number = is_own() && !s.ends.head[sub] ? number_before(s, sub) : 0;
  std::uint32_t settled = kWarmSubsequences, late = 0;
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
    if (sub == 0) s.foreign_sub = walk_late(a, s, tables, first, late);
    __syncthreads();
    settled = s.foreign_sub;
    if (s.offered != kNoOffer && s.first_number == kForeignEnd) {
      __syncthreads();  // all have read s.foreign_sub
      settled = repeat_walk(a, s, tables, settled);
    }
    if (is_own() && sub >= settled)
      number = s.ends.head[sub] ? 0 : follow_late(s, settled, sub, s.first_number);
    __syncthreads();
  }
  if (sub == last) {
    const std::uint32_t end =
        settled > last || !s.exists(last) ? s.first_state : s.ends.line[number].reached[last];
    if (!s.published) {
      s.published_end = static_cast<std::uint16_t>(end);
      publish(a, end);
    } else if (end != s.published_end) {
      if (!s.assumed && s.exists(last)) atomicOr(&a.summary->walk_faults, kFaultForetold);
      give_up(a);
    }
  }
  __syncthreads();
}

}  // namespace zerorun::chunk_sync
