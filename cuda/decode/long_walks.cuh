// How a chunk is synchronised whose subsequences have more ends than there is room for, or whose
// bits repeat so that no guess is right: by walks from mark to mark, until they meet
// (long_ends.hpp).
// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/decode/join_chunks.cuh"
#include "cuda/decode/long_ends.hpp"

namespace zerorun::chunk_sync {

static_assert(kWarmSubsequences % kMarkSubsequences == 0);
/// The mark where the chunk's own subsequences begin. Mark m is where subsequence
/// (m + 1) * kMarkSubsequences begins.
inline constexpr std::uint32_t kOwnMark = kWarmSubsequences / kMarkSubsequences - 1;

/// In the memory of the ends, but for the part of line 0 where entry() is. The chunk is as large as
/// there is room for.
template <typename Shared>
struct LongWalks {
  static constexpr std::uint32_t kSubsequences = Shared::kSubsequences;
  static_assert(kSubsequences % kMarkSubsequences == 0);
  static constexpr std::uint32_t kMarks = kSubsequences / kMarkSubsequences;
  static constexpr std::uint32_t kEndMark = kMarks - 1;  ///< the chunk's end
  /// Places where long walks begin: before the chunk, and all of them.
  static constexpr std::uint32_t kEarlyGuesses = kWarmSubsequences / kEarlyGuessStride;
  static constexpr std::uint32_t kGuessPlaces =
      kEarlyGuesses + (kSubsequences - kWarmSubsequences) / kLateGuessStride;
  static constexpr std::uint32_t kListed = 2 * kSubsequences;
  static_assert(kGuessPlaces * kMaxBlocksPerMcu <= kListed && kMostLongSlots <= kListed);
  using Marks = LongEnds<kMarks>;

  Marks marks;
  std::uint16_t* entry;   ///< [kMarks]: the state at a mark
  std::uint8_t* through;  ///< for each slot of kOwnMark that of the chunk's end
  std::uint16_t* list;    ///< [2][kListed]: walks that go on, by mark and slot

  static __device__ LongWalks at(Shared& s, std::uint32_t slots) {
    static_assert(offsetof(typename SubsequenceEnds<kSubsequences>::Line, item) == 2 * 2 * kListed);
    auto* const memory = reinterpret_cast<std::uint16_t*>(&s.ends.line[1]);
    auto* const entry = memory + Marks::bytes(slots) / 2;
    return {Marks::at(memory, slots), entry, reinterpret_cast<std::uint8_t*>(entry + kMarks),
            reinterpret_cast<std::uint16_t*>(&s.ends.line[0])};
  }
};

/// Walks over a subsequence, from whatever state a walk brings; its overshoot may be any bit of it.
/// Where an interval ends all walks meet: the next subsequence begins in the state 0.
template <typename Shared>
__device__ std::uint32_t pass(const WalkArgs& a, const Shared& s, const SkipTables& tables,
                              std::uint32_t sub, WalkState from, WalkTally& tally) {
  tally = {0, 0};
  if (!s.exists(sub)) return 0;
  if (s.ends.head[sub]) from = {0, 0, 0};
  const std::uint32_t state = walk(a, s, tables, sub, from, tally);
  return s.ends.open[sub] ? state : 0;
}

/// Walks from subsequence `sub` to a mark.
template <typename Shared>
__device__ std::uint32_t pass_to(const WalkArgs& a, const Shared& s, const SkipTables& tables,
                                 std::uint32_t mark, std::uint32_t sub, std::uint32_t state) {
  WalkTally tally;
  for (; sub < (mark + 1) * kMarkSubsequences; ++sub)
    state = pass(a, s, tables, sub, unpack_walk_state(state), tally);
  return state;
}

/// Keeps the state that a walk brings to a mark. The walk goes on if no other was there.
template <typename Shared>
__device__ std::uint32_t arrive(Shared& s, const LongWalks<Shared>& far, std::uint32_t list,
                                std::uint32_t mark, std::uint32_t state) {
  bool is_new;
  const std::uint32_t slot = far.marks.insert(mark, state, is_new);
  if (is_new && mark < far.kEndMark)
    far.list[list * far.kListed + atomicAdd(&s.listed[list], 1)] =
        static_cast<std::uint16_t>(mark << 8 | slot);
  return slot;
}

/// Goes on with the walks of list 0, from mark to mark, until all have met others. Both lists are
/// empty then.
template <typename Shared>
__device__ void walk_until_met(const WalkArgs& a, Shared& s, const SkipTables& tables,
                               const LongWalks<Shared>& far) {
  for (std::uint32_t list = 0;; list = 1 - list) {
    __syncthreads();
    const std::uint32_t listed = s.listed[list];
    if (listed == 0) return;
    for (std::uint32_t item = threadIdx.x; item < listed; item += kThreads) {
      const std::uint32_t at = far.list[list * far.kListed + item];
      const std::uint32_t mark = at >> 8, slot = at & 255;
      const std::uint32_t state = pass_to(a, s, tables, mark + 1, (mark + 1) * kMarkSubsequences,
                                          far.marks.state(mark, slot));
      far.marks.next(mark, slot) =
          static_cast<std::uint8_t>(arrive(s, far, 1 - list, mark + 1, state));
    }
    __syncthreads();
    if (threadIdx.x == 0) s.listed[list] = 0;
  }
}

/// Empties the marks and the lists.
template <typename Shared>
__device__ void free_slots(Shared& s, const LongWalks<Shared>& far) {
  for (std::uint32_t i = threadIdx.x; i < far.kMarks * far.marks.slots; i += kThreads)
    far.marks.states[i] = kFreeSlot;
  if (threadIdx.x < 2) s.listed[threadIdx.x] = 0;
  __syncthreads();
}

/// Walks from each block of the MCU as a guess, densely before the chunk's own subsequences, so
/// that the true walk is met there, and less densely in them.
template <typename Shared>
__device__ void walk_from_guesses(const WalkArgs& a, Shared& s, const SkipTables& tables,
                                  const LongWalks<Shared>& far) {
  free_slots(s, far);
  const auto guesses = static_cast<std::uint32_t>(a.cycle.period);
  for (std::uint32_t item = threadIdx.x; item < guesses * far.kGuessPlaces; item += kThreads) {
    const std::uint32_t place = item % far.kGuessPlaces, phase = item / far.kGuessPlaces;
    const std::uint32_t sub =
        place < far.kEarlyGuesses
            ? place * kEarlyGuessStride
            : kWarmSubsequences + (place - far.kEarlyGuesses) * kLateGuessStride;
    const std::uint32_t mark = sub / kMarkSubsequences;
    arrive(s, far, 0, mark, pass_to(a, s, tables, mark, sub, pack({0, phase, 0})));
  }
  walk_until_met(a, s, tables, far);
}

/// Walks from every bit of subsequences `first` to `until` - 1, and from each block of the MCU: if
/// a block begins there, one of the walks is right. Each goes on until another was where it comes
/// to, or to subsequence `to`. `left`, [kMostLongSlots]: the states in which that may begin; if
/// they are more, which of them is a matter of chance. Returns how many they are, at least one.
template <typename Shared>
__device__ std::uint32_t pass_from_every_bit(const WalkArgs& a, Shared& s, const SkipTables& tables,
                                             std::uint32_t first, std::uint32_t until,
                                             std::uint32_t to, std::uint16_t* left) {
  const auto seen = DistinctStates::at(reinterpret_cast<std::uint16_t*>(&s.ends.line[0]));
  const std::uint32_t seeds = kSubsequenceBits * static_cast<std::uint32_t>(a.cycle.period);
  const auto forget = [&] {
    for (std::uint32_t i = threadIdx.x; i < seen.kWords; i += kThreads) seen.bits[i] = 0;
  };
  if (threadIdx.x < 2) s.listed[threadIdx.x] = 0;
  forget();
  __syncthreads();
  std::uint32_t known = 0;
  for (std::uint32_t sub = first; sub < to; ++sub) {
    const std::uint32_t walks = known + (sub < until ? seeds : 0);
    std::uint32_t& listed = s.listed[sub % 2];
    for (std::uint32_t item = threadIdx.x; item < walks; item += kThreads) {
      const std::uint32_t seed = item - known, phase = seed / kSubsequenceBits;
      const WalkState from = item < known ? unpack_walk_state(seen.list(sub)[item])
                                          : WalkState{seed - phase * kSubsequenceBits, phase, 0};
      WalkTally tally;
      const std::uint32_t state = pass(a, s, tables, sub, from, tally);
      if (!seen.add(state)) continue;
      const std::uint32_t place = atomicAdd(&listed, 1);
      if (place < seen.kMost) seen.list(sub + 1)[place] = static_cast<std::uint16_t>(state);
    }
    __syncthreads();
    known = min(listed, seen.kMost);
    forget();
    if (threadIdx.x == 0) s.listed[1 - sub % 2] = 0;
    __syncthreads();
  }
  if (threadIdx.x < min(known, kMostLongSlots)) left[threadIdx.x] = seen.list(to)[threadIdx.x];
  __syncthreads();
  return known;
}

/// Walks from all states in which the chunk's own subsequences may begin. So that these walks need
/// not pass the whole chunk, others begin at some later places, likewise from all states.
template <typename Shared>
__device__ void walk_from_every_bit(const WalkArgs& a, Shared& s, const SkipTables& tables,
                                    const LongWalks<Shared>& far) {
  static_assert(kSeedPlaces <= 4 && kMostLongSlots <= 255);
  static_assert(kSeedPlaces * kMostLongSlots * 2 <= sizeof s.tally &&
                kSeedPlaces * kMostLongSlots <= far.kListed);
  constexpr std::uint32_t kApart = (Shared::kSubsequences - kWarmSubsequences) / kSeedPlaces;
  static_assert(kApart % kMarkSubsequences == 0 && kLateSeedDistance <= kWarmSubsequences);
  auto* const left = reinterpret_cast<std::uint16_t*>(s.tally);
  std::uint32_t counts = 0;  // a byte for each place
#pragma unroll 1
  for (std::uint32_t place = 0; place < kSeedPlaces; ++place) {
    const std::uint32_t to = kWarmSubsequences + place * kApart;
    const std::uint32_t first = place == 0 ? 0 : to - kLateSeedDistance;
    const std::uint32_t seeds = place == 0 ? kSeedSubsequences : kLateSeedSubsequences;
    const std::uint32_t count =
        pass_from_every_bit(a, s, tables, first, first + seeds, to, left + place * kMostLongSlots);
    // Where a later place has too many, the walks from the places before find room instead.
    if (place == 0 || count <= far.marks.slots) counts |= min(count, far.marks.slots) << 8 * place;
  }
  free_slots(s, far);
  for (std::uint32_t i = threadIdx.x; i < kSeedPlaces * kMostLongSlots; i += kThreads) {
    const std::uint32_t place = i / kMostLongSlots;
    if (i % kMostLongSlots < (counts >> 8 * place & 255))
      arrive(s, far, 0, kOwnMark + place * (kApart / kMarkSubsequences), left[i]);
  }
  walk_until_met(a, s, tables, far);
}

/// Tells the next chunk all states in which this one may end.
template <typename Shared>
__device__ void tell_ends(const WalkArgs& a, Shared& s, const LongWalks<Shared>& far) {
  std::uint16_t* const ends = a.chunk_ends + std::size_t{blockIdx.x} * kChunkEndWords;
  __syncthreads();
  for (std::uint32_t slot = threadIdx.x; slot < far.marks.slots; slot += kThreads) {
    const std::uint16_t state = far.marks.state(far.kEndMark, slot);
    if (state != kFreeSlot) __stcg(ends + 1 + atomicAdd(&s.listed[1], 1), state);
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x != 0) return;
  __stcg(ends, static_cast<std::uint16_t>(s.listed[1]));
  __threadfence();
  tell(a, kEndsListed);
}

/// Walks from all states in which the chunk before may end: its walks go on here, so that the true
/// one is among them even if it is not met before the chunk.
template <typename Shared>
__device__ void walk_from_ends(const WalkArgs& a, Shared& s, const SkipTables& tables,
                               const LongWalks<Shared>& far) {
  const std::uint16_t* const ends = a.chunk_ends + (std::size_t{blockIdx.x} - 1) * kChunkEndWords;
  if (threadIdx.x == 0) {
    const bool listed = follows_chunk(s) && (await_chunk_before(a) & kEndsListed) != 0;
    __threadfence();
    s.listed[1] = listed ? __ldcg(ends) : 0;
  }
  __syncthreads();
  const std::uint32_t count = s.listed[1];
  __syncthreads();
  if (threadIdx.x == 0) s.listed[1] = 0;
  for (std::uint32_t i = threadIdx.x; i < count; i += kThreads)
    arrive(s, far, 0, kOwnMark, __ldcg(ends + 1 + i));
  walk_until_met(a, s, tables, far);
}

/// Goes through the chunk in order, by one thread, from the first mark whose state no walk met.
/// Returns the state at the chunk's end.
template <typename Shared>
__device__ std::uint32_t settle_marks(const WalkArgs& a, Shared& s, const SkipTables& tables,
                                      const LongWalks<Shared>& far) {
  std::uint32_t slot = s.first_number, state = s.first_state;
  bool given_up = false;
  for (std::uint32_t mark = kOwnMark; mark < far.kEndMark; ++mark) {
    far.entry[mark] = static_cast<std::uint16_t>(state);
    slot = slot == kNoSlot ? kNoSlot : far.marks.next(mark, slot);
    if (slot != kNoSlot) {
      state = far.marks.state(mark + 1, slot);
      continue;
    }
    const std::uint32_t sub = (mark + 1) * kMarkSubsequences;
    given_up = given_up || !may_walk_late(a, a.summary->late_long_walks, a.most_late_long_walks,
                                          kMarkSubsequences);
    if (given_up) {
      for (std::uint32_t i = 0; i < kMarkSubsequences; ++i) s.end[sub + i] = 0;
      continue;
    }
    state = pass_to(a, s, tables, mark + 1, sub, state);
    slot = far.marks.find(mark + 1, state);
  }
  return state;
}

/// Tells the next chunk the state at the end; if it was told another, the scan is given up. (A
/// chunk that was cut off does not know its end, as in find_entries().)
template <typename Shared>
__device__ void publish_far(const WalkArgs& a, Shared& s, std::uint32_t state) {
  if (s.published) {
    if (state == s.published_end) return;
    if (s.exists(last_subsequence(a))) atomicOr(&a.summary->walk_faults, kFaultForetold);
    give_up(a);
    return;
  }
  s.published = true;
  s.published_end = static_cast<std::uint16_t>(state);
  publish(a, kEndsListed | state);
}

/// Finds for all states at kOwnMark the one at the chunk's end. Nearly always that is the same for
/// all, and the next chunk is told at once: then no chunk waits for more than one other. By a
/// simulation, in all 294 chunks of noise at q90, in 194 of 194 of sensor noise at q97 with optimal
/// tables and in 157 of 188 of text at q100 with them, and none told a wrong one. Noise at q100
/// told one in 3 of 24 frames of 595 chunks; these are decoded again. At least one state is kept at
/// kOwnMark: guesses begin just before it, and walks from every bit all come to it.
template <typename Shared>
__device__ void tell_common_end(const WalkArgs& a, Shared& s, const LongWalks<Shared>& far) {
  static_assert(kMostLongSlots <= kThreads);
  const std::uint32_t slot = threadIdx.x;
  const bool is_kept = slot < far.marks.slots && far.marks.state(kOwnMark, slot) != kFreeSlot;
  const std::uint32_t end = is_kept ? far.marks.follow(kOwnMark, far.kEndMark, slot) : 0;
  if (is_kept) far.through[slot] = static_cast<std::uint8_t>(end);
  if (threadIdx.x == 0) {
    s.published = false;
    s.first_number = 0;
  }
  __syncthreads();
  if (is_kept) atomicMax(&s.first_number, end);
  __syncthreads();
  const std::uint32_t common = s.first_number;
  const bool agree = __syncthreads_and(!is_kept || end == common) && common != kNoSlot;
  if (agree && a.foretells && threadIdx.x == 0)
    publish_far(a, s, far.marks.state(far.kEndMark, common));
}

/// Finds the state at each mark from that at kOwnMark, which the chunk before tells, and tells the
/// next chunk the state at the end.
template <typename Shared>
__device__ void join_marks(const WalkArgs& a, Shared& s, const SkipTables& tables,
                           const LongWalks<Shared>& far) {
  tell_common_end(a, s, far);
  if (threadIdx.x == 0) {
    s.first_state = await_first_state(a, s);
    s.first_number = far.marks.find(kOwnMark, s.first_state);
    const std::uint32_t end = s.first_number == kNoSlot ? kNoSlot : far.through[s.first_number];
    s.assumed = end != kNoSlot;
    if (s.assumed) publish_far(a, s, far.marks.state(far.kEndMark, end));
  }
  __syncthreads();
  const std::uint32_t mark = kOwnMark + threadIdx.x;
  if (!s.assumed) {
    if (threadIdx.x == 0) publish_far(a, s, settle_marks(a, s, tables, far));
  } else if (mark < far.kEndMark) {
    far.entry[mark] = far.marks.state(mark, far.marks.follow(kOwnMark, mark, s.first_number));
  }
  __syncthreads();
}

/// Finds the state before each own subsequence, and its tally.
template <bool kEveryBit, typename Shared>
__device__ void find_entries_far(const WalkArgs& a, Shared& s, const SkipTables& tables) {
  const LongWalks far = LongWalks<Shared>::at(s, a.long_slots);
  if constexpr (kEveryBit) {
    walk_from_every_bit(a, s, tables, far);
  } else {
    walk_from_guesses(a, s, tables, far);
    tell_ends(a, s, far);
    walk_from_ends(a, s, tables, far);
  }
  join_marks(a, s, tables, far);
  const std::uint32_t mark = kOwnMark + threadIdx.x;
  if (mark < far.kEndMark) {
    std::uint32_t state = far.entry[mark];
    for (std::uint32_t sub = (mark + 1) * kMarkSubsequences; sub < (mark + 2) * kMarkSubsequences;
         ++sub) {
      WalkTally tally;
      s.entry(sub) = s.ends.head[sub] ? std::uint16_t{0} : static_cast<std::uint16_t>(state);
      state = pass(a, s, tables, sub, unpack_walk_state(state), tally);
      s.tally[sub] = make_step(tally);
    }
  }
  __syncthreads();
}

}  // namespace zerorun::chunk_sync
