// A CTA of sync_subsequences(): its shared memory, a walk over one of its subsequences, what it
// publishes for the CTAs behind it, and the two strategies.
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

/// The number of the CTA's last subsequence.
__device__ inline std::uint32_t last_subsequence(const ScanArgs& a) {
  return kWarmSubsequences + a.plan.chunk_subsequences - 1;
}

/// With this bit a chunk publishes the state in which it ends, for the next one.
inline constexpr std::uint32_t kPublished = 1u << 31, kStateMask = 0xFFFF;

/// The part that both strategies use.
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

/// The map strategy (chunk_states.hpp). Each subsequence of a chunk is walked from the states that
/// are possible before it. Each chunk publishes the state in which it ends; from that of the chunk
/// before, the maps lead to the state before each subsequence.
struct MapChunk : Chunk {
  /// Finds the state before each own subsequence, and its tally.
  __device__ void find_starts() const {
    walk_guesses();
    if (walk_ends()) {
      join_chunks();
      find_entries();
      return;
    }
    if (threadIdx.x < kRoom) s.end[threadIdx.x] = 0;  // none exists any more
    if (threadIdx.x == 0) {
      give_up();
      publish(0);
    }
    __syncthreads();
  }

 private:
  /// Lists walks over subsequence `to` from ends `from` to `until` - 1 of the one before.
  __device__ void list_walks(std::uint32_t& listed, std::uint32_t to, std::uint32_t from,
                             std::uint32_t until) const {
    if (from == until) return;
    std::uint32_t place = add_at(shared_address(&listed), until - from);
#pragma unroll 1
    for (; from < until; ++from) s.item(place++) = static_cast<std::uint16_t>(from << 8 | to);
  }

  /// The seed of a guess, if each has so many; without a division of integers.
  __device__ static std::uint32_t divide(std::uint32_t items, std::uint32_t guesses) {
    // Half an item is at least 0.05 of a seed, far more than the rounding of so small numbers.
    return static_cast<std::uint32_t>(
        __fdividef(static_cast<float>(items) + 0.5f, static_cast<float>(guesses)));
  }

  /// Walks every `guess_stride`-th subsequence from each block of the MCU as a guess, unless it is
  /// a head, and lists the first walks of walk_ends(): from the ends of the guesses, and over the
  /// heads.
  __device__ void walk_guesses() const {
    const std::uint32_t stride_log2 = 31 - __clz(static_cast<int>(a.plan.guess_stride));
    const std::uint32_t seeds = (last_subsequence(a) + 1) >> stride_log2;
    const auto guesses = static_cast<std::uint32_t>(a.cycle.period);
    // The guesses of a subsequence go to one warp: their walks have about as many steps.
    for (std::uint32_t item = threadIdx.x; item < guesses * seeds; item += kThreads) {
      const std::uint32_t seed = divide(item, guesses), sub = seed << stride_log2;
      const std::uint32_t phase = item - seed * guesses;
      if (s.ends.head[sub] || !s.ends.open[sub]) continue;
      WalkTally tally;
      s.ends.line[phase].reached[sub] = static_cast<std::uint16_t>(walk(sub, {0, phase, 0}, tally));
    }
    __syncthreads();
    for (std::uint32_t seed = threadIdx.x; seed < seeds; seed += kThreads) {
      const std::uint32_t sub = seed << stride_log2;
      s.ends.collect(sub, guesses);
      if (follows_another(sub + 1)) list_walks(s.listed[0], sub + 1, 0, s.ends.count[sub]);
    }
    const std::uint32_t sub = threadIdx.x;
    if (sub < kRoom && s.ends.head[sub]) list_walks(s.listed[0], sub, 0, 1);
    __syncthreads();
  }

  /// Returns the end of the round's first walk if few walks are left and this one passed many
  /// blocks: other subsequences may then end in the same state.
  __device__ std::uint16_t choose_offer(std::uint32_t listed) const {
    if (listed > kOfferWalks) return kNoOffer;
    const std::uint32_t to = s.item(0) & 255;
    const auto& line = s.ends.line[s.item(0) >> 8];
    const bool repeats = tally_of_step(line.step[to]).blocks >= kOfferBlocks;
    return repeats && s.ends.open[to] ? line.reached[to] : kNoOffer;
  }

  /// Walks every subsequence from all ends of the subsequence before, until no new end turns up. A
  /// barrier between walks and ends, and one between ends and walks, divide the rounds. Ends that
  /// find no room are left to find_entries(). Returns false, to all threads, after kMostRounds.
  __device__ bool walk_ends() const {
    const std::uint32_t sub = threadIdx.x;
    const bool has_column = sub < kRoom;  // all of a warp or none
    const bool is_head = has_column && s.ends.head[sub];
    const bool matches = has_column && s.ends.open[sub] && (is_head || sub > 0);
    // Ends before the subsequence that were walked from, and its own whose walks are listed.
    std::uint32_t walked = 0, listed_ends = has_column ? s.ends.count[sub] : 0;
    for (std::uint32_t round = 0; round < kMostRounds; ++round) {
      const std::uint32_t listed = s.listed[round % 2];
      std::uint32_t& listed_next = s.listed[1 - round % 2];
      const std::uint32_t entries = !matches ? 0 : is_head ? 1 : s.ends.count[sub - 1];
      if (listed == 0) return true;
      for (std::uint32_t item = threadIdx.x; item < listed; item += kThreads) {
        const std::uint32_t to = s.item(item) & 255, number = s.item(item) >> 8;
        const std::uint32_t from = s.ends.head[to] ? 0u : s.ends.line[number].state[to - 1];
        WalkTally tally;
        s.ends.line[number].reached[to] =
            static_cast<std::uint16_t>(walk(to, unpack_walk_state(from), tally));
        s.ends.line[number].step[to] = make_step(tally);
      }
      if (threadIdx.x == 0) {
        if (round >= kOfferRounds) s.offered = choose_offer(listed);
        listed_next = 0;  // all have read it a round ago
      }
      __syncthreads();
      if (has_column) {
        if (entries != walked) {
          s.ends.match(sub, walked, entries, a.plan.most_ends);
          walked = entries;
        }
        if (round >= kOfferRounds && s.offered != kNoOffer) s.ends.offer(sub, s.offered);
        const std::uint32_t count = s.ends.count[sub];
        if (count != listed_ends && follows_another(sub + 1))
          list_walks(listed_next, sub + 1, listed_ends, count);
        listed_ends = count;
      }
      __syncthreads();
    }
    return false;
  }

  /// From end `number` before the chunk's first own subsequence to that of its last one, segment by
  /// segment; takes note of the numbers for number_before().
  template <bool kNotes>
  __device__ std::uint32_t follow_chunk(std::uint32_t number) const {
    const std::uint32_t last = last_subsequence(a) / kSegmentSubsequences;
#pragma unroll 4
    for (std::uint32_t segment = kWarmSubsequences / kSegmentSubsequences; segment <= last;
         ++segment) {
      if (kNotes) s.segment_first[segment] = static_cast<std::uint8_t>(number);
      number = s.ends.follow_whole_segment(segment, number);
    }
    return number;
  }
  /// The number of the end before a subsequence of the chunk; after follow_chunk<true>().
  __device__ std::uint32_t number_before(std::uint32_t sub) const {
    const std::uint32_t segment = sub / kSegmentSubsequences;
    return s.ends.follow_subsequences(segment * kSegmentSubsequences, sub,
                                      s.segment_first[segment]);
  }

  /// Publishes the end early if it is the same from every known end before the first own
  /// subsequence: then a chunk waits for one other, not for all before it. The right end may be
  /// another; find_entries() finds that out, and the attempt fails. Without it photos take 1.6 to
  /// 4.4 times as long (H200). Called by a warp.
  __device__ void publish_common_end() const {
    const std::uint32_t lane = threadIdx.x, count = s.ends.count[kWarmSubsequences - 1];
    const std::uint32_t end = follow_chunk<false>(lane < count ? lane : kForeignEnd);
    const std::uint32_t common = __shfl_sync(kFullWarp, end, 0);
    const bool agree = __all_sync(kFullWarp, lane >= count || end == common);
    if (lane == 0 && agree && common != kForeignEnd)
      publish(s.ends.line[common].state[last_subsequence(a)]);
  }

  /// Finds the state in which the chunk's first own subsequence begins, and follows the maps from
  /// it.
  __device__ void join_chunks() const {
    const std::uint32_t segments = last_subsequence(a) / kSegmentSubsequences;  // but the first
    for (std::uint32_t i = threadIdx.x; i < segments * (kMostEnds + 1); i += kThreads)
      s.ends.follow_segment(1 + i % segments, i / segments);
    if (threadIdx.x == 0) s.published = false;
    __syncthreads();
    if (threadIdx.x < 32 && follows_chunk()) publish_common_end();
    __syncthreads();
    if (threadIdx.x == 0) {
      s.first_state = await_first_state();
      s.first_number = follows_chunk() ? s.ends.find(kWarmSubsequences - 1, s.first_state) : 0;
      follow_chunk<true>(s.first_number);
      const std::uint32_t last = last_subsequence(a);
      const std::uint32_t number = s.ends.head[last] ? 0 : number_before(last);
      if (!s.published && number != kForeignEnd) publish(s.ends.line[number].reached[last]);
    }
    __syncthreads();
  }

  /// One thread walks serially from subsequence `sub`, which begins in a state that was not kept,
  /// until a walk ends in one that was, or the next subsequence begins in a known one, or a walk
  /// passes many blocks and ends as it began. Returns the subsequence behind; it begins in end
  /// number s.first_number of the one before, and in s.first_state.
  __device__ std::uint32_t walk_serially(std::uint32_t sub) const {
    std::uint32_t state = s.first_state, number = kForeignEnd;
    s.offered = kNoOffer;
    for (; follows_another(sub); ++sub) {
      if (number != kForeignEnd || s.offered != kNoOffer) break;
      if (!may_walk_serially(1)) {
        for (; sub < kRoom; ++sub) s.end[sub] = 0;
        break;
      }
      WalkTally tally;
      const std::uint32_t before = state;
      s.entry(sub) = static_cast<std::uint16_t>(state);
      state = walk(sub, unpack_walk_state(state), tally);
      s.tally[sub] = make_step(tally);
      number = s.ends.find(sub, state);
      if (state == before && tally.blocks >= kOfferBlocks)
        s.offered = static_cast<std::uint16_t>(state);
    }
    s.first_number = number;
    s.first_state = state;
    return sub;
  }

  /// A serial walk passed many blocks and ended as it began, in s.offered: pictures of one colour
  /// and gradients repeat a few bits. All subsequences behind it are walked from there at once.
  /// Returns the one, from `first` on, whose walk ends otherwise first; it begins in s.offered,
  /// too. Without it one colour at q75 with optimal tables takes 1.2 ms and not 0.17, more than
  /// nvJPEG (H100).
  __device__ std::uint32_t repeat_walk(std::uint32_t first) const {
    const std::uint32_t sub = threadIdx.x, state = s.offered;
    const bool behind = sub >= first && sub < kRoom;
    WalkTally tally{};
    const bool repeats = behind && follows_another(sub) && s.ends.open[sub] &&
                         walk(sub, unpack_walk_state(state), tally) == state;
    if (sub == 0) s.foreign_sub = kRoom;
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
  __device__ std::uint32_t follow_behind(std::uint32_t from, std::uint32_t to,
                                         std::uint32_t number) const {
    for (; from < to && from % kSegmentSubsequences != 0; ++from)
      number = s.ends.follow(from, number);
    return s.ends.follow_subsequences(from, to, number);
  }

  /// Finds the state before each own subsequence, and its tally. Where the right walk comes to an
  /// end that found no room, one thread walks serially until it reaches a state that was kept, and
  /// from there on all threads follow the maps again.
  __device__ void find_entries() const {
    const std::uint32_t last = last_subsequence(a);
    const std::uint32_t sub = threadIdx.x;
    const bool own = sub >= kWarmSubsequences && sub < kRoom;
    const auto is_own = [&] { return own && s.exists(sub); };
    std::uint32_t number = is_own() && !s.ends.head[sub] ? number_before(sub) : 0;
    std::uint32_t settled = kWarmSubsequences;
    for (;;) {
      const bool foreign = is_own() && sub >= settled && number == kForeignEnd;
      if (sub == 0) s.foreign_sub = kRoom;
      if (is_own() && sub >= settled && !foreign) {
        s.entry(sub) = s.ends.head[sub] ? std::uint16_t{0} : s.ends.line[number].state[sub - 1];
        s.tally[sub] = s.ends.line[number].step[sub];
      }
      if (!__syncthreads_or(foreign)) break;
      if (foreign) atomicMin(&s.foreign_sub, sub);
      __syncthreads();
      const std::uint32_t first = s.foreign_sub;
      if (sub + 1 == first && own && sub >= settled)
        s.first_state = s.ends.line[number].reached[sub];
      __syncthreads();
      if (sub == 0) s.foreign_sub = walk_serially(first);
      __syncthreads();
      settled = s.foreign_sub;
      if (s.offered != kNoOffer && s.first_number == kForeignEnd) {
        __syncthreads();  // all have read s.foreign_sub
        settled = repeat_walk(settled);
      }
      if (is_own() && sub >= settled)
        number = s.ends.head[sub] ? 0 : follow_behind(settled, sub, s.first_number);
      __syncthreads();
    }
    if (sub == last) {
      const std::uint32_t end =
          settled > last || !s.exists(last) ? s.first_state : s.ends.line[number].reached[last];
      if (!s.published)
        publish(end);
      else if (end != s.published_end)
        give_up();
    }
    __syncthreads();
  }
};

// The exhaustive strategy: walks from every bit of the subsequences before the chunk. One of them
// is right by construction. They go on from mark to mark until they meet (chunk_states.hpp).

/// Mark m is where subsequence (m + 1) * kMarkSubsequences begins; the chunk's own subsequences
/// begin at kOwnMark, and it ends at kEndMark. It is as large as there is room for.
inline constexpr std::uint32_t kMarks = kRoom / kMarkSubsequences, kEndMark = kMarks - 1;
inline constexpr std::uint32_t kOwnMark = kWarmSubsequences / kMarkSubsequences - 1;
static_assert(kWarmSubsequences % kMarkSubsequences == 0 && kRoom % kMarkSubsequences == 0);
/// Length of a list of walks that go on; the lists are in the memory of the first end.
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
