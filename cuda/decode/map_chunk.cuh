// The map strategy on the device (subsequence_ends.hpp). Each subsequence of a chunk is walked from
// the states that are possible before it. Each chunk publishes the state in which it ends; from
// that of the chunk before, the maps lead to the state before each subsequence.
// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/decode/chunk_sync.cuh"

namespace zerorun::chunk_sync {

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

  /// The end of the round's first walk, if so few walks are left and it passed so many blocks that
  /// other subsequences may end in the same state.
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

  /// Publishes the end if the maps lead to it.
  __device__ void publish_known_end() const {
    const std::uint32_t last = last_subsequence(a);
    const std::uint32_t number = s.ends.head[last] ? 0 : number_before(last);
    if (number != kForeignEnd) publish(s.ends.line[number].reached[last]);
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
      if (!s.published) publish_known_end();
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

}  // namespace zerorun::chunk_sync
