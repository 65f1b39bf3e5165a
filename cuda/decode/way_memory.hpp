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
    if (repeating_.take(scan))
      advice.first = FarWalks::from_every_bit;
    else if (far_.take(scan))
      advice.first = FarWalks::from_guesses;
    advice.known.guesses_may_do = far_.knows(scan);
    advice.known.more_late_walks = advice.first == FarWalks::from_guesses && patient_.knows(scan);
    return advice;
  }

  /// Such walks were in vain, even if the chunks waited.
  void failed(const ScanSize& scan, FarWalks walks) {
    if (walks == FarWalks::from_every_bit) repeating_.forget(scan);
  }
  /// The usual way was right at once. `but_slow`: long walks from guesses would take less time.
  void usual_was_right(const ScanSize& scan, bool but_slow) {
    repeating_.forget(scan);
    far_.forget(scan);
    if (but_slow) far_.remember(scan);
  }
  /// A sound scan was tried in several ways, of which the last one was right. `was_patient`: it had
  /// more late walks than it may have while other ways are left.
  void learn(const ScanSize& scan, FarWalks first, std::uint32_t first_faults, const ScanWays& ways,
             bool was_patient) {
    // One wrong end may be chance. If the next scan alike fails although its chunks wait, it is
    // not.
    const bool was_usual = first == FarWalks::if_dense;
    const bool may_be_chance = was_usual && (first_faults & kFaultForetold) != 0;
    if (may_be_chance || !ways.foretells())
      foretold_.remember(scan);
    else
      foretold_.forget(scan);
    if (may_be_chance) return;
    const bool is_new = was_usual && !far_.knows(scan) && !repeating_.knows(scan);
    if (ways.walks() == FarWalks::if_dense) {
      far_.forget(scan);
    } else if (ways.walks() == FarWalks::from_guesses) {
      far_.remember(scan);
      was_patient ? patient_.remember(scan) : patient_.forget(scan);
    } else if (is_new && (first_faults & kFaultLateWalks) == 0) {
      // Walks from guesses may be right, too, and take less time: the next scan alike tries them.
      far_.remember(scan);
    } else {
      far_.forget(scan);
      repeating_.remember(scan);
    }
  }

 private:
  OddScans repeating_;  ///< walks from every bit were right, and those from guesses were not
  OddScans far_;        ///< long walks from guesses were right, may be right, or take less time
  OddScans patient_;    ///< of far_ those that needed more late walks
  OddScans foretold_;   ///< a chunk ended otherwise than it told
};

}  // namespace zerorun
