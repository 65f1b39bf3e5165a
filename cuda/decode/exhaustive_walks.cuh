// The exhaustive strategy on the device: walks from every bit of the subsequences before the chunk.
// One of them is right by construction. They go on from mark to mark until they meet
// (chunk_states.hpp).
// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/decode/chunk_sync.cuh"

namespace zerorun::chunk_sync {

/// Mark m is where subsequence (m + 1) * kMarkSubsequences begins; the chunk's own subsequences
/// begin at kOwnMark, and it ends at kEndMark. It is as large as there is room for.
inline constexpr std::uint32_t kMarks = kRoom / kMarkSubsequences, kEndMark = kMarks - 1;
inline constexpr std::uint32_t kOwnMark = kWarmSubsequences / kMarkSubsequences - 1;
static_assert(kWarmSubsequences % kMarkSubsequences == 0 && kRoom % kMarkSubsequences == 0);
/// Walks that go on, in the memory of the first end.
inline constexpr std::uint32_t kListed = 2 * kRoom;
static_assert(kMarkSlots <= kListed && kMarkSlots <= 255 && kMarkSlots <= kThreads);
static_assert(offsetof(SubsequenceEnds<kRoom>::Line, item) == 2 * 2 * kListed);

/// Uses the memory of the ends, but for the part of line 0 where entry() is.
struct ExhaustiveChunk : Chunk {
  using Marks = MarkStates<kMarks>;

  Marks marks;
  std::uint16_t* entry;   ///< [kMarks]: the state at a mark
  std::uint8_t* through;  ///< for each slot of kOwnMark that of kEndMark, or kNoSlot
  std::uint16_t* list;    ///< [2][kListed]: walks that go on, by mark and slot

  __device__ explicit ExhaustiveChunk(const Chunk& chunk)
      : Chunk(chunk),
        marks(Marks::at(reinterpret_cast<std::uint16_t*>(&s.ends.line[1]), a.plan.mark_slots)),
        entry(reinterpret_cast<std::uint16_t*>(&s.ends.line[1]) + Marks::bytes(marks.slots) / 2),
        through(reinterpret_cast<std::uint8_t*>(entry + kMarks)),
        list(reinterpret_cast<std::uint16_t*>(&s.ends.line[0])) {}

  /// Finds the state before each own subsequence, and its tally.
  __device__ void find_starts() const {
    walk_from_every_bit();
    join_marks();
    const std::uint32_t mark = kOwnMark + threadIdx.x;
    if (mark < kEndMark) {
      std::uint32_t state = entry[mark];
      for (std::uint32_t sub = (mark + 1) * kMarkSubsequences; sub < (mark + 2) * kMarkSubsequences;
           ++sub) {
        WalkTally tally;
        s.entry(sub) = s.ends.head[sub] ? std::uint16_t{0} : static_cast<std::uint16_t>(state);
        state = pass(sub, unpack_walk_state(state), tally);
        s.tally[sub] = make_step(tally);
      }
    }
    __syncthreads();
  }

 private:
  /// Walks over a subsequence, from whatever state a walk brings; its overshoot may be any bit of
  /// it. Where an interval ends all walks meet: the next subsequence begins in the state 0.
  __device__ std::uint32_t pass(std::uint32_t sub, WalkState from, WalkTally& tally) const {
    tally = {0, 0};
    if (!s.exists(sub)) return 0;
    if (s.ends.head[sub]) from = {0, 0, 0};
    const std::uint32_t state = walk(sub, from, tally);
    return s.ends.open[sub] ? state : 0;
  }

  /// Walks from subsequence `sub` to a mark.
  __device__ std::uint32_t pass_to(std::uint32_t mark, std::uint32_t sub,
                                   std::uint32_t state) const {
    WalkTally tally;
    for (; sub < (mark + 1) * kMarkSubsequences; ++sub)
      state = pass(sub, unpack_walk_state(state), tally);
    return state;
  }

  /// Keeps the state that a walk brings to a mark. The walk goes on, in list `number`, if no other
  /// was there.
  __device__ std::uint32_t arrive(std::uint32_t number, std::uint32_t mark,
                                  std::uint32_t state) const {
    bool is_new;
    const std::uint32_t slot = marks.insert(mark, state, is_new);
    if (is_new && mark < kEndMark)
      list[number * kListed + atomicAdd(&s.listed[number], 1)] =
          static_cast<std::uint16_t>(mark << 8 | slot);
    return slot;
  }

  /// Goes on with the walks of list 0, from mark to mark, until all have met others. Both lists are
  /// empty then.
  __device__ void walk_until_met() const {
    for (std::uint32_t number = 0;; number = 1 - number) {
      __syncthreads();
      const std::uint32_t listed = s.listed[number];
      if (listed == 0) return;
      for (std::uint32_t item = threadIdx.x; item < listed; item += kThreads) {
        const std::uint32_t at = list[number * kListed + item];
        const std::uint32_t mark = at >> 8, slot = at & 255;
        const std::uint32_t state =
            pass_to(mark + 1, (mark + 1) * kMarkSubsequences, marks.state(mark, slot));
        marks.next(mark, slot) = static_cast<std::uint8_t>(arrive(1 - number, mark + 1, state));
      }
      __syncthreads();
      if (threadIdx.x == 0) s.listed[number] = 0;
    }
  }

  /// Walks from every bit of subsequences `first` to `until` - 1, and from each block of the MCU:
  /// if a block begins there, one of the walks is right. Each goes on until another was where it
  /// comes to, or to subsequence `to`. `left`, [kMarkSlots]: the states in which that may begin; if
  /// they are more, which of them is a matter of chance. Returns how many they are, at least one.
  __device__ std::uint32_t pass_from_every_bit(std::uint32_t first, std::uint32_t until,
                                               std::uint32_t to, std::uint16_t* left) const {
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
        const std::uint32_t state = pass(sub, from, tally);
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

  /// Walks from all states in which the chunk's own subsequences may begin. So that these walks
  /// need not pass the whole chunk, others begin at some later places, likewise from all states.
  __device__ void walk_from_every_bit() const {
    static_assert(kSeedPlaces <= 4 && kSeedPlaces * kMarkSlots * 2 <= sizeof s.tally &&
                  kSeedPlaces * kMarkSlots <= kListed);
    constexpr std::uint32_t kApart = (kRoom - kWarmSubsequences) / kSeedPlaces;
    static_assert(kApart % kMarkSubsequences == 0 && kLateSeedDistance <= kWarmSubsequences);
    auto* const left = reinterpret_cast<std::uint16_t*>(s.tally);
    std::uint32_t counts = 0;  // a byte for each place
#pragma unroll 1
    for (std::uint32_t place = 0; place < kSeedPlaces; ++place) {
      const std::uint32_t to = kWarmSubsequences + place * kApart;
      const std::uint32_t first = place == 0 ? 0 : to - kLateSeedDistance;
      const std::uint32_t seeds = place == 0 ? kSeedSubsequences : kLateSeedSubsequences;
      const std::uint32_t count =
          pass_from_every_bit(first, first + seeds, to, left + place * kMarkSlots);
      // Where a later place has too many, the walks from the places before find room instead.
      if (place == 0 || count <= marks.slots) counts |= min(count, marks.slots) << 8 * place;
    }
    for (std::uint32_t i = threadIdx.x; i < kMarks * marks.slots; i += kThreads)
      marks.states[i] = kFreeSlot;
    if (threadIdx.x < 2) s.listed[threadIdx.x] = 0;
    __syncthreads();
    for (std::uint32_t i = threadIdx.x; i < kSeedPlaces * kMarkSlots; i += kThreads) {
      const std::uint32_t place = i / kMarkSlots;
      if (i % kMarkSlots < (counts >> 8 * place & 255))
        arrive(0, kOwnMark + place * (kApart / kMarkSubsequences), left[i]);
    }
    walk_until_met();
  }

  /// Goes through the chunk in order, by one thread, from the first mark whose state no walk met.
  /// Returns the state at the chunk's end.
  __device__ std::uint32_t settle_marks() const {
    std::uint32_t slot = s.first_number, state = s.first_state;
    bool given_up = false;
    for (std::uint32_t mark = kOwnMark; mark < kEndMark; ++mark) {
      entry[mark] = static_cast<std::uint16_t>(state);
      slot = slot == kNoSlot ? kNoSlot : marks.next(mark, slot);
      if (slot != kNoSlot) {
        state = marks.state(mark + 1, slot);
        continue;
      }
      const std::uint32_t sub = (mark + 1) * kMarkSubsequences;
      given_up = given_up || !may_walk_serially(kMarkSubsequences);
      if (given_up) {
        for (std::uint32_t i = 0; i < kMarkSubsequences; ++i) s.end[sub + i] = 0;
        continue;
      }
      state = pass_to(mark + 1, sub, state);
      slot = marks.find(mark + 1, state);
    }
    return state;
  }

  /// Finds the state at each mark from that at kOwnMark, in which the chunk before ends, and
  /// publishes the state at the end.
  __device__ void join_marks() const {
    const std::uint32_t slot = threadIdx.x;
    if (slot < marks.slots) {
      const bool is_kept = marks.state(kOwnMark, slot) != kFreeSlot;
      through[slot] =
          static_cast<std::uint8_t>(is_kept ? marks.follow(kOwnMark, kEndMark, slot) : kNoSlot);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      s.first_state = await_first_state();
      s.first_number = marks.find(kOwnMark, s.first_state);
      s.foreign_sub = s.first_number == kNoSlot ? kNoSlot : through[s.first_number];
      if (s.foreign_sub != kNoSlot) publish(marks.state(kEndMark, s.foreign_sub));
    }
    __syncthreads();
    const std::uint32_t mark = kOwnMark + threadIdx.x;
    if (s.foreign_sub == kNoSlot) {
      if (threadIdx.x == 0) publish(settle_marks());
    } else if (mark < kEndMark) {
      entry[mark] = marks.state(mark, marks.follow(kOwnMark, mark, s.first_number));
    }
    __syncthreads();
  }
};

}  // namespace zerorun::chunk_sync
