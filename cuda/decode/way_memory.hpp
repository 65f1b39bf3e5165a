// What scans have taught about the ways in which those like them are tried.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "cuda/decode/odd_scans.hpp"
#include "cuda/decode/scan_ways.hpp"

namespace zerorun {

/// Of one decoder.
class WayMemory {
 public:
  struct Advice {
    FarWalks first;  ///< if_dense: as the scan's size says
    ScanWays::Known known;
  };
  /// For a scan that has come.
  Advice take(const ScanSize& scan) {
    Advice advice{FarWalks::if_dense, {}};
    advice.known.told_wrong = foretold_.take(scan);
    advice.known.more_late_walks = patient_.knows(scan);
    if (repeating_.take(scan))
      advice.first = FarWalks::from_every_bit;
    else if (far_.take(scan))
      advice.first = FarWalks::from_guesses;
    advice.known.guesses_did = far_.knows(scan);
    return advice;
  }

  /// Such walks were in vain, even if the chunks waited.
  void failed(const ScanSize& scan, FarWalks walks) {
    if (walks == FarWalks::from_every_bit) repeating_.forget(scan);
  }
  /// The usual way was right, but long walks from guesses would take less time.
  void prefer_guesses(const ScanSize& scan) { far_.remember(scan); }

  /// Of a sound scan that was tried in several ways.
  struct Outcome {
    FarWalks first;                ///< how the first one walked
    std::uint32_t first_faults;    ///< that it had
    std::uint32_t late_walks;      ///< of the one that was right
    std::uint32_t few_late_walks;  ///< as many as it may have while other ways are left
  };
  /// `ways`: the last one was right.
  void learn(const ScanSize& scan, const ScanWays& ways, const Outcome& outcome) {
    const bool was_usual = outcome.first == FarWalks::if_dense;
    const bool is_new = was_usual && !far_.knows(scan) && !repeating_.knows(scan);
    // One wrong end may be chance. If the next scan alike fails although its chunks wait, it is
    // not.
    const bool may_be_chance = is_new && (outcome.first_faults & kFaultForetold) != 0;
    if (may_be_chance || !ways.foretells())
      foretold_.remember(scan);
    else
      foretold_.forget(scan);
    if (may_be_chance) return;
    if (ways.walks() == FarWalks::if_dense) {
      far_.forget(scan);
    } else if (ways.walks() == FarWalks::from_guesses) {
      far_.remember(scan);
      const bool was_patient = outcome.late_walks > outcome.few_late_walks;
      was_patient ? patient_.remember(scan) : patient_.forget(scan);
    } else if (is_new && (outcome.first_faults & kFaultLateWalks) == 0) {
      // Walks from guesses may be right, too, and take less time: the next scan alike tries them.
      far_.remember(scan);
    } else {
      far_.forget(scan);
      repeating_.remember(scan);
    }
  }

 private:
  OddScans repeating_;  ///< walks from every bit were right, and those from guesses were not
  OddScans far_;        ///< walks from guesses were right, met late, or may be right
  OddScans patient_;    ///< long walks from guesses needed more late walks
  OddScans foretold_;   ///< a chunk ended otherwise than it told
};

}  // namespace zerorun
