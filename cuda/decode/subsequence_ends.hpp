// The states in which the subsequences of a chunk may end, and which of them follows which: how a
// chunk's subsequences are synchronised. Host code too, so that a test can run the algorithm
// without a device.
//
// A walk that starts somewhere in a subsequence soon meets the right one where it began in the
// right block of the MCU, and late where it did not. So a subsequence is walked once from each
// block of the MCU as a guess. Where these walks end, the next subsequence is walked from, which
// makes a map from the ends of one subsequence to those of the next; an end that is new there is
// walked from in turn, until there are none. Maps in a line, followed from any subsequence whose
// beginning is known, tell all others.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "cuda/decode/subsequence_walk.hpp"

namespace zerorun {

/// Of a subsequence; at q90 4:2:0 six guesses end in 3.5 states on average, and further ones come
/// from the subsequences before. Ends for which there is no room are followed by settle(), one
/// after the other.
inline constexpr std::uint32_t kMostEnds = 16;
static_assert(kMaxBlocksPerMcu <= kMostEnds);
/// Enough where there are at most kUsualGuesses and blocks shorter than a subsequence. A third CTA
/// then fits into a processor.
inline constexpr std::uint32_t kUsualEnds = 11, kUsualGuesses = 6, kUsualBlockBits = 112;
/// Instead of an end's number.
inline constexpr std::uint32_t kForeignEnd = 31;

/// How a subsequence was walked from one of the ends of the subsequence before, or from a head's
/// known state. `next`: the number of its end; 0 until it is matched.
///   bits 0-9 pairs, 10-19 blocks, 20-24 next
inline constexpr int kStepBlockShift = 10, kStepNextShift = 20;
inline constexpr std::uint32_t kStepCountMask = 1023;
static_assert(kSubsequenceBits + kMostStepBits <= kStepCountMask);
ZR_HD std::uint32_t make_step(const WalkTally& tally) {
  return tally.pairs | tally.blocks << kStepBlockShift;
}
ZR_HD WalkTally tally_of_step(std::uint32_t step) {
  return {step >> kStepBlockShift & kStepCountMask, step & kStepCountMask};
}
ZR_HD std::uint32_t next_of_step(std::uint32_t step) { return step >> kStepNextShift; }

/// Subsequences that are followed at once by one thread.
inline constexpr std::uint32_t kSegmentSubsequences = 8;

/// Of `kSubsequences` subsequences that follow each other. A subsequence's thread is the only one
/// that changes its column between two barriers, but for `reached` and `step`, which walkers write.
template <std::uint32_t kSubsequences>
struct SubsequenceEnds {
  static_assert(kSubsequences % kSegmentSubsequences == 0);
  static constexpr std::uint32_t kSegments = kSubsequences / kSegmentSubsequences;

  /// Of the ends with one number.
  struct Line {
    std::uint16_t state[kSubsequences];  ///< pack() of an end
    std::uint16_t
        reached[kSubsequences];         ///< where a guess, or an end of the subsequence before, led
    std::uint32_t step[kSubsequences];  ///< from an end of the subsequence before
    std::uint16_t item[kSubsequences];  ///< for those who walk: what is to be walked
  };

  /// From an end of the subsequence before a segment to that of its last subsequence; the last line
  /// is for kForeignEnd.
  std::uint8_t through[kMostEnds + 1][kSegments];
  std::uint8_t count[kSubsequences];  ///< of ends
  bool open[kSubsequences];           ///< the next subsequence goes on from this one
  bool head[kSubsequences];  ///< begins from a known state, which counts as end 0 before it
  std::uint32_t most;        ///< lines that there are: memory behind them may be missing

  /// The number of a state among the subsequence's ends.
  ZR_HD std::uint32_t find(std::uint32_t sub, std::uint32_t ended) const {
    return find(sub, ended, count[sub]);
  }

  /// Takes the ends of the guesses; of a head, that of its only walk.
  ZR_HD void collect(std::uint32_t sub, std::uint32_t guesses) {
    const std::uint32_t walks = !open[sub] ? 0 : head[sub] ? 1 : guesses;
    // All at once from memory: one after the other they would take as long as half a walk.
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

  /// Takes where the ends `from` to `to` - 1 of the subsequence before led.
  ZR_HD void match(std::uint32_t sub, std::uint32_t from, std::uint32_t to) {
    if (!open[sub]) return;
    std::uint32_t known = count[sub];
    for (std::uint32_t i = from; i < to; ++i)
      line[i].step[sub] |= add(sub, line[i].reached[sub], known) << kStepNextShift;
    count[sub] = static_cast<std::uint8_t>(known);
  }

  /// From the end `number` of the subsequence before to that of `subsequence`.
  ZR_HD std::uint32_t follow(std::uint32_t sub, std::uint32_t number) const {
    if (head[sub]) number = 0;
    return number == kForeignEnd || !open[sub] ? kForeignEnd : next_of_step(line[number].step[sub]);
  }

  /// Fills `through` for one segment but the first, and line `number`.
  ZR_HD void follow_segment(std::uint32_t segment, std::uint32_t number) {
    const std::uint32_t first = segment * kSegmentSubsequences;
    std::uint32_t now = number < count[first - 1] ? number : kForeignEnd;
    for (std::uint32_t sub = first; sub < first + kSegmentSubsequences; ++sub)
      now = follow(sub, now);
    through[number][segment] = static_cast<std::uint8_t>(now);
  }

  /// From the end `number` before subsequence `from`, the first of a segment behind the first, to
  /// that before subsequence `to`.
  ZR_HD std::uint32_t follow_subsequences(std::uint32_t from, std::uint32_t to,
                                          std::uint32_t number) const {
    std::uint32_t sub = from;
    for (; sub + kSegmentSubsequences <= to; sub += kSegmentSubsequences)
      number = through[number == kForeignEnd ? kMostEnds : number][sub / kSegmentSubsequences];
    for (; sub < to; ++sub) number = follow(sub, number);
    return number;
  }

  /// From end `number` of subsequence 0 to that before subsequence `to`, which is no subsequence of
  /// the first segment.
  ZR_HD std::uint32_t follow_from_first(std::uint32_t to, std::uint32_t number) const {
    for (std::uint32_t sub = 1; sub < kSegmentSubsequences; ++sub) number = follow(sub, number);
    return follow_subsequences(kSegmentSubsequences, to, number);
  }

 private:
  ZR_HD std::uint32_t find(std::uint32_t sub, std::uint32_t ended, std::uint32_t known) const {
    for (std::uint32_t i = 0; i < known; ++i)
      if (line[i].state[sub] == ended) return i;
    return kForeignEnd;
  }

  /// The same, with a new number for a new state where there is room.
  ZR_HD std::uint32_t add(std::uint32_t sub, std::uint32_t ended, std::uint32_t& known) {
    const std::uint32_t number = find(sub, ended, known);
    if (number != kForeignEnd || known == most) return number;
    line[known].state[sub] = static_cast<std::uint16_t>(ended);
    return known++;
  }

 public:
  Line line[kMostEnds];
};

}  // namespace zerorun
