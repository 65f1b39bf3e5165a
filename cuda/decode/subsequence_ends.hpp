// The states in which the rows of a chunk may end, and which of them follows which: how a chunk's
// rows are synchronised. Host code too, so that a test can run the algorithm without a device.
//
// A walk that starts somewhere in a row soon meets the right one where it began in the right block
// of the MCU, and late where it did not. So a row is walked once from each block of the MCU as a
// guess. Where these walks end, the next row is walked from, which makes a map from the ends of one
// row to those of the next; an end that is new there is walked from in turn, until there are none.
// Maps in a line, followed from any row whose beginning is known, tell all others.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "cuda/decode/subsequence_walk.hpp"

namespace zerorun {

/// Of a row; at q90 4:2:0 six guesses end in 3.5 states on average, and further ones come from the
/// rows before. Ends for which there is no room are followed by settle(), one after the other.
inline constexpr std::uint32_t kMostEnds = 16;
static_assert(kMaxBlocksPerMcu <= kMostEnds);
/// Enough where there are at most kUsualGuesses and blocks shorter than a row. A third CTA then
/// fits into a processor.
inline constexpr std::uint32_t kUsualEnds = 11, kUsualGuesses = 6, kUsualBlockBits = 112;
/// Instead of an end's number.
inline constexpr std::uint32_t kForeignEnd = 31;

/// How a row was walked from one of the ends of the row before, or from a head's known state.
/// `next`: the number of its end; 0 until it is matched.
///   bits 0-9 pairs, 10-19 blocks, 20-24 next
inline constexpr int kStepBlockShift = 10, kStepNextShift = 20;
inline constexpr std::uint32_t kStepCountMask = 1023;
static_assert(kRowBits + kMostStepBits <= kStepCountMask);
ZR_HD std::uint32_t make_step(const RowTally& tally) {
  return tally.pairs | tally.blocks << kStepBlockShift;
}
ZR_HD RowTally tally_of_step(std::uint32_t step) {
  return {step >> kStepBlockShift & kStepCountMask, step & kStepCountMask};
}
ZR_HD std::uint32_t next_of_step(std::uint32_t step) { return step >> kStepNextShift; }

/// Rows that are followed at once by one thread.
inline constexpr std::uint32_t kSegmentRows = 8;

/// Of `kRows` rows that follow each other. A row's thread is the only one that changes its column
/// between two barriers, but for `reached` and `step`, which walkers write.
template <std::uint32_t kRows>
struct RowEnds {
  static_assert(kRows % kSegmentRows == 0);
  static constexpr std::uint32_t kSegments = kRows / kSegmentRows;

  /// Of the ends with one number.
  struct Line {
    std::uint16_t state[kRows];    ///< pack() of an end
    std::uint16_t reached[kRows];  ///< where a guess, or an end of the row before, led
    std::uint32_t step[kRows];     ///< from an end of the row before
    std::uint16_t item[kRows];     ///< for those who walk: what is to be walked
  };

  /// From an end of the row before a segment to that of its last row; the last line is for
  /// kForeignEnd.
  std::uint8_t through[kMostEnds + 1][kSegments];
  std::uint8_t count[kRows];  ///< of ends
  bool open[kRows];           ///< the next row goes on from this one
  bool head[kRows];           ///< begins from a known state, which counts as end 0 before it
  std::uint32_t most;         ///< lines that there are: memory behind them may be missing

  /// The number of a state among the row's ends.
  ZR_HD std::uint32_t find(std::uint32_t row, std::uint32_t ended) const {
    return find(row, ended, count[row]);
  }

  /// Takes the ends of the guesses; of a head, that of its only walk.
  ZR_HD void collect(std::uint32_t row, std::uint32_t guesses) {
    const std::uint32_t walks = !open[row] ? 0 : head[row] ? 1 : guesses;
    // All at once from memory: one after the other they would take as long as half a walk.
    std::uint16_t ended[kMaxBlocksPerMcu];
    for (std::uint32_t i = 0; i < kMaxBlocksPerMcu; ++i)
      ended[i] = line[i < walks ? i : 0].reached[row];
    std::uint32_t known = 0;
    for (std::uint32_t i = 0; i < kMaxBlocksPerMcu; ++i) {
      bool is_new = i < walks;
      for (std::uint32_t j = 0; j < i; ++j) is_new = is_new && ended[j] != ended[i];
      if (is_new) line[known++].state[row] = ended[i];
    }
    count[row] = static_cast<std::uint8_t>(known);
  }

  /// Takes where the ends `from` to `to` - 1 of the row before led.
  ZR_HD void match(std::uint32_t row, std::uint32_t from, std::uint32_t to) {
    if (!open[row]) return;
    std::uint32_t known = count[row];
    for (std::uint32_t i = from; i < to; ++i)
      line[i].step[row] |= add(row, line[i].reached[row], known) << kStepNextShift;
    count[row] = static_cast<std::uint8_t>(known);
  }

  /// From the end `number` of the row before to that of `row`.
  ZR_HD std::uint32_t follow(std::uint32_t row, std::uint32_t number) const {
    if (head[row]) number = 0;
    return number == kForeignEnd || !open[row] ? kForeignEnd : next_of_step(line[number].step[row]);
  }

  /// Fills `through` for one segment but the first, and line `number`.
  ZR_HD void follow_segment(std::uint32_t segment, std::uint32_t number) {
    const std::uint32_t first = segment * kSegmentRows;
    std::uint32_t now = number < count[first - 1] ? number : kForeignEnd;
    for (std::uint32_t row = first; row < first + kSegmentRows; ++row) now = follow(row, now);
    through[number][segment] = static_cast<std::uint8_t>(now);
  }

  /// From the end `number` before row `from`, the first of a segment behind the first, to that
  /// before row `to`.
  ZR_HD std::uint32_t follow_rows(std::uint32_t from, std::uint32_t to,
                                  std::uint32_t number) const {
    std::uint32_t row = from;
    for (; row + kSegmentRows <= to; row += kSegmentRows)
      number = through[number == kForeignEnd ? kMostEnds : number][row / kSegmentRows];
    for (; row < to; ++row) number = follow(row, number);
    return number;
  }

  /// From end `number` of row 0 to that before row `to`, which is no row of the first segment.
  ZR_HD std::uint32_t follow_from_first(std::uint32_t to, std::uint32_t number) const {
    for (std::uint32_t row = 1; row < kSegmentRows; ++row) number = follow(row, number);
    return follow_rows(kSegmentRows, to, number);
  }

 private:
  ZR_HD std::uint32_t find(std::uint32_t row, std::uint32_t ended, std::uint32_t known) const {
    for (std::uint32_t i = 0; i < known; ++i)
      if (line[i].state[row] == ended) return i;
    return kForeignEnd;
  }

  /// The same, with a new number for a new state where there is room.
  ZR_HD std::uint32_t add(std::uint32_t row, std::uint32_t ended, std::uint32_t& known) {
    const std::uint32_t number = find(row, ended, known);
    if (number != kForeignEnd || known == most) return number;
    line[known].state[row] = static_cast<std::uint16_t>(ended);
    return known++;
  }

 public:
  Line line[kMostEnds];
};

}  // namespace zerorun
