// The states between the subsequences of a chunk, as both strategies keep them. Host code too, so
// that a test can run the algorithm without a device.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "cuda/decode/subsequence_walk.hpp"

namespace zerorun {

// The map strategy: the states in which each subsequence may end, and which of them leads to which.
//
// A walk that starts somewhere in a subsequence soon meets the right walk if it assumed the right
// block of the MCU, and late if it did not. So a subsequence is walked once from each block of the
// MCU as a guess, and the next subsequence from wherever these walks end. That gives a map from the
// ends of one subsequence to the ends of the next. A new end is walked from in turn, until there is
// none. Composing the maps from one known start gives all other starts.
//
// Pictures of one colour and gradients repeat a few bits, and a guess that begins amid them stays
// apart from other walks. Such a walk is the same some subsequences further, so its end becomes a
// guess for all of them.

static_assert(kMaxBlocksPerMcu <= kMostEnds);
/// Subsequences of a segment; one thread follows the maps through a segment.
inline constexpr std::uint32_t kSegmentSubsequences = 8;
/// An end state is offered if at most so many walks are left and its walk passed so many blocks.
inline constexpr std::uint32_t kOfferWalks = 8, kOfferBlocks = kSubsequenceBits * 10 / 36;
/// Room that is left for end states which were not offered.
inline constexpr std::uint32_t kEndsNotOffered = 4;
/// Stands for the number of an end that is not kept.
inline constexpr std::uint32_t kForeignEnd = 31;

/// A step: what a walk from one of the ends of the subsequence before, or from a head's known
/// state, passed. `next` is the number of the end that it reached; 0 until match() sets it.
///   bits 0-9 pairs, 10-19 blocks, 24-31 next
inline constexpr int kStepBlockShift = 10, kStepNextShift = 24;
inline constexpr std::uint32_t kStepCountMask = 1023;
static_assert(kSubsequenceBits + kMostStepBits <= kStepCountMask);
ZR_HD std::uint32_t make_step(const WalkTally& tally) {
  return tally.pairs | tally.blocks << kStepBlockShift;
}
ZR_HD WalkTally tally_of_step(std::uint32_t step) {
  return {step >> kStepBlockShift & kStepCountMask, step & kStepCountMask};
}
ZR_HD std::uint32_t next_of_step(std::uint32_t step) { return step >> kStepNextShift; }
/// Stores one byte, so that nothing waits for the rest of the step.
ZR_HD void set_next_of_step(std::uint32_t& step, std::uint32_t next) {
  static_assert(std::endian::native == std::endian::little && kStepNextShift == 24);
  reinterpret_cast<std::uint8_t*>(&step)[3] = static_cast<std::uint8_t>(next);
}

/// The ends of `kSubsequences` consecutive subsequences. Between two barriers only one thread
/// changes a subsequence's column, except `reached` and `step`, which the walks write, and `item`.
template <std::uint32_t kSubsequences>
struct SubsequenceEnds {
  static_assert(kSubsequences % kSegmentSubsequences == 0);
  static constexpr std::uint32_t kSegments = kSubsequences / kSegmentSubsequences;

  /// The ends with one number, over all subsequences.
  struct Line {
    std::uint16_t state[kSubsequences];    ///< the end, packed
    std::uint16_t reached[kSubsequences];  ///< where the walk from it led; likewise for guesses
    std::uint32_t step[kSubsequences];     ///< of the walk from that end of the subsequence before
    std::uint16_t item[kSubsequences];     ///< work list of the walks
  };

  /// For each end before a segment, the end of its last subsequence. The last line is for
  /// kForeignEnd.
  std::uint8_t through[kMostEnds + 1][kSegments];
  std::uint8_t count[kSubsequences];  ///< number of ends
  bool open[kSubsequences];           ///< the interval goes on in the next subsequence
  bool head[kSubsequences];           ///< begins in a known state, which counts as end 0 before it
  std::uint32_t most;                 ///< lines that there is memory for

  /// The number of a state among the ends of a subsequence, or kForeignEnd.
  ZR_HD std::uint32_t find(std::uint32_t sub, std::uint32_t ended) const {
    const std::uint32_t known = count[sub];
    for (std::uint32_t i = 0; i < known; ++i)
      if (line[i].state[sub] == ended) return i;
    return kForeignEnd;
  }

  /// As find(), but a new state gets a number if there is room for it in `lines`.
  ZR_HD std::uint32_t add(std::uint32_t sub, std::uint32_t ended, std::uint32_t lines) {
    const std::uint32_t number = find(sub, ended), known = count[sub];
    if (number != kForeignEnd || known >= lines) return number;
    line[known].state[sub] = static_cast<std::uint16_t>(ended);
    count[sub] = static_cast<std::uint8_t>(known + 1);
    return known;
  }

  /// Collects the ends of the guesses; a head has none.
  ZR_HD void collect(std::uint32_t sub, std::uint32_t guesses) {
    const std::uint32_t walks = open[sub] && !head[sub] ? guesses : 0;
    // Loaded all at once: one after the other would take as long as half a walk.
    std::uint16_t ended[kMaxBlocksPerMcu];
    for (std::uint32_t i = 0; i < kMaxBlocksPerMcu; ++i)
      ended[i] = line[i < walks ? i : 0].reached[sub];
    std::uint32_t known = 0;
    for (std::uint32_t i = 0; i < kMaxBlocksPerMcu; ++i) {
      bool is_new = i < walks;
      for (std::uint32_t j = 0; j < i; ++j) is_new = is_new && ended[j] != ended[i];
      if (is_new) line[known++].state[sub] = ended[i];
    }
    count[sub] = static_cast<std::uint8_t>(known);
  }

  /// Numbers the states that the ends `from` to `to` - 1 of the subsequence before led to; the
  /// subsequence is open. Returns whether there was room for all. `lines`: as `most`.
  ZR_HD bool match(std::uint32_t sub, std::uint32_t from, std::uint32_t to, std::uint32_t lines) {
    bool all = true;
    for (std::uint32_t i = from; i < to; ++i) {
      const std::uint32_t number = add(sub, line[i].reached[sub], lines);
      set_next_of_step(line[i].step[sub], number);
      all = all && number != kForeignEnd;
    }
    return all;
  }

  /// Adds a state in which the subsequence may end, as a guess. A few ends always find room.
  ZR_HD void offer(std::uint32_t sub, std::uint32_t state) {
    if (open[sub] && count[sub] + kEndsNotOffered < most) add(sub, state, most);
  }

  /// From end `number` of the subsequence before `sub` to the end of `sub`.
  ZR_HD std::uint32_t follow(std::uint32_t sub, std::uint32_t number) const {
    if (head[sub]) number = 0;
    return number == kForeignEnd || !open[sub] ? kForeignEnd : next_of_step(line[number].step[sub]);
  }

  /// Fills line `number` of `through` for a segment other than the first.
  ZR_HD void follow_segment(std::uint32_t segment, std::uint32_t number) {
    const std::uint32_t first = segment * kSegmentSubsequences;
    std::uint32_t now = number < count[first - 1] ? number : kForeignEnd;
    for (std::uint32_t sub = first; sub < first + kSegmentSubsequences; ++sub)
      now = follow(sub, now);
    through[number][segment] = static_cast<std::uint8_t>(now);
  }

  /// Follows a whole segment by the line that follow_segment() filled.
  ZR_HD std::uint32_t follow_whole_segment(std::uint32_t segment, std::uint32_t number) const {
    static_assert(kForeignEnd >= kMostEnds);
    return through[number < kMostEnds ? number : kMostEnds][segment];
  }

  /// From end `number` before `from`, where a segment other than the first begins, to the end
  /// before `to`.
  ZR_HD std::uint32_t follow_subsequences(std::uint32_t from, std::uint32_t to,
                                          std::uint32_t number) const {
    std::uint32_t sub = from;
    for (; sub + kSegmentSubsequences <= to; sub += kSegmentSubsequences)
      number = follow_whole_segment(sub / kSegmentSubsequences, number);
    for (; sub < to; ++sub) number = follow(sub, number);
    return number;
  }

  Line line[kMostEnds];
};

// The exhaustive strategy. Where blocks are dense, 20 to 90 walks over a chunk go on side by side,
// so their states are kept only at the marks, every kMarkSubsequences subsequences. Each walk goes
// on until it reaches a mark in a state that another walk had there before it.

/// A mark is at every so many subsequences.
inline constexpr std::uint32_t kMarkSubsequences = 4;
/// Subsequences in which a block begins, wherever they are: the longest has 27 bits of a DC and 26
/// for each AC coefficient.
inline constexpr std::uint32_t kSeedSubsequences = 6;
static_assert(kSeedSubsequences * kSubsequenceBits >= 16 + 11 + 63 * (16 + 10));
/// How many subsequences before each seed place but the first its walks begin, and in how many.
inline constexpr std::uint32_t kLateSeedDistance = 8, kLateSeedSubsequences = 2;
/// Stands for the slot of a state that is not kept.
inline constexpr std::uint32_t kNoSlot = 255;
/// In place of a state: the slot is free. No walk has it.
inline constexpr std::uint16_t kFreeSlot = 0xFFFF;

/// The states of the walks at `kMarks` marks, each with a hash table of `slots` states (a power of
/// two), and from which state of a mark a walk reaches which of the next.
template <std::uint32_t kMarks>
struct MarkStates {
  std::uint16_t* states;  ///< [kMarks][slots]
  std::uint8_t* nexts;    ///< [kMarks][slots]
  std::uint32_t slots;

  static constexpr std::uint32_t bytes(std::uint32_t slots) { return kMarks * slots * 3; }
  static ZR_HD MarkStates at(std::uint16_t* memory, std::uint32_t slots) {
    return {memory, reinterpret_cast<std::uint8_t*>(memory + kMarks * slots), slots};
  }

  ZR_HD std::uint16_t& state(std::uint32_t mark, std::uint32_t slot) const {
    return states[mark * slots + slot];
  }
  ZR_HD std::uint8_t& next(std::uint32_t mark, std::uint32_t slot) const {
    return nexts[mark * slots + slot];
  }

  /// Keeps a state that a walk reached, or finds it. `is_new`: no walk was there before. Returns
  /// kNoSlot if there is no room. Several threads may call it.
  ZR_HD std::uint32_t insert(std::uint32_t mark, std::uint32_t reached, bool& is_new) const {
    std::uint32_t slot = home_of(reached);
    for (std::uint32_t probe = 0; probe < slots; ++probe, slot = (slot + 1) & (slots - 1)) {
      const std::uint32_t old = take_if_free(state(mark, slot), reached);
      is_new = old == kFreeSlot;
      if (is_new || old == reached) return slot;
    }
    is_new = false;
    return kNoSlot;
  }

  /// Where a state is kept, or kNoSlot.
  ZR_HD std::uint32_t find(std::uint32_t mark, std::uint32_t reached) const {
    std::uint32_t slot = home_of(reached);
    for (std::uint32_t probe = 0; probe < slots; ++probe, slot = (slot + 1) & (slots - 1)) {
      if (state(mark, slot) == reached) return slot;
      if (state(mark, slot) == kFreeSlot) break;
    }
    return kNoSlot;
  }

  /// From a slot of mark `from` to that of mark `to`.
  ZR_HD std::uint32_t follow(std::uint32_t from, std::uint32_t to, std::uint32_t slot) const {
    for (std::uint32_t mark = from; mark < to && slot != kNoSlot; ++mark) slot = next(mark, slot);
    return slot;
  }

 private:
  /// Walks that pass the same bits differ in one part of their states, so all parts count.
  ZR_HD std::uint32_t home_of(std::uint32_t reached) const {
    return (reached * 40503u >> 7) & (slots - 1);
  }
  static ZR_HD std::uint32_t take_if_free(std::uint16_t& slot, std::uint32_t reached) {
#ifdef __CUDA_ARCH__
    return atomicCAS(&slot, kFreeSlot, static_cast<std::uint16_t>(reached));
#else
    const std::uint16_t old = slot;
    if (old == kFreeSlot) slot = static_cast<std::uint16_t>(reached);
    return old;
#endif
  }
};

/// Lists of states, each state once, in memory of bytes(). Between two barriers there is one list
/// that walks go on from and one of the states that they reach.
struct DistinctStates {
  static constexpr std::uint32_t kWords = (1u << 16) / 32;
  static constexpr std::uint32_t kMost = 1792;  ///< of a list: 6 ends have memory for two

  std::uint32_t* bits;   ///< [kWords]: one for each state, set if that was reached
  std::uint16_t* lists;  ///< [2][kMost]

  static constexpr std::uint32_t bytes() { return kWords * 4 + 2 * kMost * 2; }
  static ZR_HD DistinctStates at(std::uint16_t* memory) {
    return {reinterpret_cast<std::uint32_t*>(memory), memory + 2 * kWords};
  }

  ZR_HD std::uint16_t* list(std::uint32_t number) const { return lists + number % 2 * kMost; }

  /// Whether the state was reached for the first time. Several threads may call it.
  ZR_HD bool add(std::uint32_t state) const {
    const std::uint32_t bit = 1u << state % 32;
#ifdef __CUDA_ARCH__
    return (atomicOr(&bits[state / 32], bit) & bit) == 0;
#else
    const std::uint32_t before = bits[state / 32];
    bits[state / 32] |= bit;
    return (before & bit) == 0;
#endif
  }
};

}  // namespace zerorun
