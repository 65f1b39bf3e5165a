// The exhaustive strategy: walks from every bit of the subsequences before the chunk. One of them
// is right by construction. They go on from mark to mark until they meet (mark_states.hpp).
// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/decode/map_chunk.cuh"
#include "cuda/decode/mark_states.hpp"

namespace zerorun::chunk_sync {

static_assert(kWarmSubsequences % kMarkSubsequences == 0);
/// The mark where the chunk's own subsequences begin. Mark m is where subsequence
/// (m + 1) * kMarkSubsequences begins.
inline constexpr std::uint32_t kOwnMark = kWarmSubsequences / kMarkSubsequences - 1;

/// In the memory of the ends, but for the part of line 0 where entry() is. The chunk is as large as
/// there is room for.
template <typename Shared>
struct MarkedWalks {
  static constexpr std::uint32_t kSubsequences = Shared::kSubsequences;
  static_assert(kSubsequences % kMarkSubsequences == 0);
  static constexpr std::uint32_t kMarks = kSubsequences / kMarkSubsequences;
  static constexpr std::uint32_t kEndMark = kMarks - 1;  ///< the chunk's end
  static constexpr std::uint32_t kListed = 2 * kSubsequences;
  static_assert(kMarkSlots <= kListed);
  using Marks = MarkStates<kMarks>;

  Marks marks;
  std::uint16_t* entry;   ///< [kMarks]: the state at a mark
  std::uint8_t* through;  ///< for each slot of kOwnMark that of kEndMark, or kNoSlot
  std::uint16_t* list;    ///< [2][kListed]: walks that go on, by mark and slot

  static __device__ MarkedWalks at(Shared& s, std::uint32_t slots) {
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
__device__ std::uint32_t arrive(Shared& s, const MarkedWalks<Shared>& walks, std::uint32_t list,
                                std::uint32_t mark, std::uint32_t state) {
  bool is_new;
  const std::uint32_t slot = walks.marks.insert(mark, state, is_new);
  if (is_new && mark < walks.kEndMark)
    walks.list[list * walks.kListed + atomicAdd(&s.listed[list], 1)] =
        static_cast<std::uint16_t>(mark << 8 | slot);
  return slot;
}

/// Goes on with the walks of list 0, from mark to mark, until all have met others. Both lists are
/// empty then.
template <typename Shared>
__device__ void walk_until_met(const WalkArgs& a, Shared& s, const SkipTables& tables,
                               const MarkedWalks<Shared>& walks) {
  for (std::uint32_t list = 0;; list = 1 - list) {
    __syncthreads();
    const std::uint32_t listed = s.listed[list];
    if (listed == 0) return;
    for (std::uint32_t item = threadIdx.x; item < listed; item += kThreads) {
      const std::uint32_t at = walks.list[list * walks.kListed + item];
      const std::uint32_t mark = at >> 8, slot = at & 255;
      const std::uint32_t state = pass_to(a, s, tables, mark + 1, (mark + 1) * kMarkSubsequences,
                                          walks.marks.state(mark, slot));
      walks.marks.next(mark, slot) =
          static_cast<std::uint8_t>(arrive(s, walks, 1 - list, mark + 1, state));
    }
    __syncthreads();
    if (threadIdx.x == 0) s.listed[list] = 0;
  }
}

/// Empties the marks and the lists.
template <typename Shared>
__device__ void free_slots(Shared& s, const MarkedWalks<Shared>& walks) {
  for (std::uint32_t i = threadIdx.x; i < walks.kMarks * walks.marks.slots; i += kThreads)
    walks.marks.states[i] = kFreeSlot;
  if (threadIdx.x < 2) s.listed[threadIdx.x] = 0;
  __syncthreads();
}

/// Walks from every bit of subsequences `first` to `until` - 1, and from each block of the MCU: if
/// a block begins there, one of the walks is right. Each goes on until another was where it comes
/// to, or to subsequence `to`. `left`, [kMarkSlots]: the states in which that may begin; if
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
  if (threadIdx.x < min(known, kMarkSlots)) left[threadIdx.x] = seen.list(to)[threadIdx.x];
  __syncthreads();
  return known;
}

/// Walks from all states in which the chunk's own subsequences may begin. So that these walks need
/// not pass the whole chunk, others begin at some later places, likewise from all states.
template <typename Shared>
__device__ void walk_from_every_bit(const WalkArgs& a, Shared& s, const SkipTables& tables,
                                    const MarkedWalks<Shared>& walks) {
  static_assert(kSeedPlaces <= 4 && kMarkSlots <= 255);
  static_assert(kSeedPlaces * kMarkSlots * 2 <= sizeof s.tally &&
                kSeedPlaces * kMarkSlots <= walks.kListed);
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
        pass_from_every_bit(a, s, tables, first, first + seeds, to, left + place * kMarkSlots);
    // Where a later place has too many, the walks from the places before find room instead.
    if (place == 0 || count <= walks.marks.slots)
      counts |= min(count, walks.marks.slots) << 8 * place;
  }
  free_slots(s, walks);
  for (std::uint32_t i = threadIdx.x; i < kSeedPlaces * kMarkSlots; i += kThreads) {
    const std::uint32_t place = i / kMarkSlots;
    if (i % kMarkSlots < (counts >> 8 * place & 255))
      arrive(s, walks, 0, kOwnMark + place * (kApart / kMarkSubsequences), left[i]);
  }
  walk_until_met(a, s, tables, walks);
}

/// Goes through the chunk in order, by one thread, from the first mark whose state no walk met.
/// Returns the state at the chunk's end.
template <typename Shared>
__device__ std::uint32_t settle_marks(const WalkArgs& a, Shared& s, const SkipTables& tables,
                                      const MarkedWalks<Shared>& walks) {
  std::uint32_t slot = s.first_number, state = s.first_state;
  bool given_up = false;
  for (std::uint32_t mark = kOwnMark; mark < walks.kEndMark; ++mark) {
    walks.entry[mark] = static_cast<std::uint16_t>(state);
    slot = slot == kNoSlot ? kNoSlot : walks.marks.next(mark, slot);
    if (slot != kNoSlot) {
      state = walks.marks.state(mark + 1, slot);
      continue;
    }
    const std::uint32_t sub = (mark + 1) * kMarkSubsequences;
    given_up = given_up || !may_walk_serially(a, kMarkSubsequences);
    if (given_up) {
      for (std::uint32_t i = 0; i < kMarkSubsequences; ++i) s.end[sub + i] = 0;
      continue;
    }
    state = pass_to(a, s, tables, mark + 1, sub, state);
    slot = walks.marks.find(mark + 1, state);
  }
  return state;
}

/// Finds the state at each mark from that at kOwnMark, in which the chunk before ends, and
/// publishes the state at the end.
template <typename Shared>
__device__ void join_marks(const WalkArgs& a, Shared& s, const SkipTables& tables,
                           const MarkedWalks<Shared>& walks) {
  static_assert(kMarkSlots <= kThreads);
  const std::uint32_t slot = threadIdx.x;
  if (slot < walks.marks.slots) {
    const bool is_kept = walks.marks.state(kOwnMark, slot) != kFreeSlot;
    walks.through[slot] = static_cast<std::uint8_t>(
        is_kept ? walks.marks.follow(kOwnMark, walks.kEndMark, slot) : kNoSlot);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    s.first_state = await_first_state(a, s);
    s.first_number = walks.marks.find(kOwnMark, s.first_state);
    const std::uint32_t end = s.first_number == kNoSlot ? kNoSlot : walks.through[s.first_number];
    s.foreign_sub = end;
    if (end != kNoSlot) publish(a, s, walks.marks.state(walks.kEndMark, end));
  }
  __syncthreads();
  const std::uint32_t mark = kOwnMark + threadIdx.x;
  if (s.foreign_sub == kNoSlot) {
    if (threadIdx.x == 0) publish(a, s, settle_marks(a, s, tables, walks));
  } else if (mark < walks.kEndMark) {
    walks.entry[mark] = walks.marks.state(mark, walks.marks.follow(kOwnMark, mark, s.first_number));
  }
  __syncthreads();
}

/// Finds the state before each own subsequence, and its tally.
template <typename Shared>
__device__ void find_starts_by_all_walks(const WalkArgs& a, Shared& s, const SkipTables& tables) {
  const auto walks = MarkedWalks<Shared>::at(s, a.mark_slots);
  walk_from_every_bit(a, s, tables, walks);
  join_marks(a, s, tables, walks);
  const std::uint32_t mark = kOwnMark + threadIdx.x;
  if (mark < walks.kEndMark) {
    std::uint32_t state = walks.entry[mark];
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
