// In which ways a scan is tried, one after the other, until one finds where its subsequences begin.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <utility>

#include "cuda/decode/scan_plan.hpp"
#include "cuda/decode/subsequence_walk.hpp"

namespace zerorun {

/// For one scan. A way is how it is walked, and whether its chunks tell their ends before they know
/// where they begin.
class ScanWays {
 public:
  /// What scans like this one have taught.
  struct Known {
    /// Chunks told a wrong end, so they do not foretell.
    bool told_wrong = false;
    /// Long walks from guesses were right, or may be.
    bool guesses_may_do = false;
    /// They needed more late walks, and have them from the beginning.
    bool more_late_walks = false;
  };

  ScanWays() = default;
  /// The first way is that of `plan`. If it has other walks than `usual`, these were right for a
  /// scan like this one.
  ScanWays(const SubsequencePlan& plan, const SubsequencePlan& usual, const Known& known)
      : known_(known),
        walks_(plan.every_bit  ? FarWalks::from_every_bit
               : plan.far_only ? FarWalks::from_guesses
                               : FarWalks::if_dense),
        foretells_(!known.told_wrong),
        guesses_told_wrong_(walks_ == FarWalks::from_guesses && known.told_wrong),
        usual_may_wait_(plan.far_only && !usual.far_only),
        tried_guesses_(walks_ == FarWalks::from_guesses),
        tried_every_bit_(walks_ == FarWalks::from_every_bit) {}

  FarWalks walks() const { return walks_; }
  bool foretells() const { return foretells_; }
  bool every_bit_failed() const { return tried_every_bit_ && walks_ != FarWalks::from_every_bit; }

  /// The long walks for which the device has memory.
  struct Fits {
    bool from_guesses, from_every_bit;
  };
  /// Chooses what follows a way that had kFaultUnsettled and perhaps others among its `faults`.
  /// Returns false if no way is left. Any takes far less time than the careful decoder.
  bool choose_next(std::uint32_t faults, const Fits& fits) {
    const bool told_wrong = (faults & kFaultForetold) != 0;
    const bool many_late_walks = (faults & kFaultLateWalks) != 0;
    const bool was_usual = walks_ == FarWalks::if_dense;
    if (told_wrong && walks_ == FarWalks::from_guesses) guesses_told_wrong_ = true;
    usual_may_wait_ = usual_may_wait_ || (told_wrong && was_usual && foretells_);
    const bool guesses_may_do = known_.guesses_may_do && was_usual && !many_late_walks;
    if (guesses_may_do && go(FarWalks::from_guesses, fits)) return true;
    // One of these walks is right, if there is room for all of them.
    if (go(FarWalks::from_every_bit, fits)) {
      // Long walks from guesses may be right with more late walks, or if each chunk waits.
      if (told_wrong || (many_late_walks && !known_.more_late_walks)) tried_guesses_ = false;
      return true;
    }
    if (told_wrong && !was_usual && std::exchange(foretells_, false)) return true;
    if (go(FarWalks::from_guesses, fits)) return true;
    if (!std::exchange(usual_may_wait_, false)) return false;
    walks_ = FarWalks::if_dense;
    foretells_ = false;
    return true;
  }

 private:
  bool go(FarWalks walks, const Fits& fits) {
    const bool every_bit = walks == FarWalks::from_every_bit;
    bool& tried = every_bit ? tried_every_bit_ : tried_guesses_;
    if (tried || !(every_bit ? fits.from_every_bit : fits.from_guesses)) return false;
    walks_ = walks;
    foretells_ = every_bit || !guesses_told_wrong_;
    return tried = true;
  }

  Known known_;
  FarWalks walks_ = FarWalks::if_dense;
  bool foretells_ = true;
  bool guesses_told_wrong_ = false;  ///< chunks did, in long walks from guesses
  /// The usual way was not tried, or chunks told a wrong end in it; it may be right if they wait.
  bool usual_may_wait_ = false;
  bool tried_guesses_ = false, tried_every_bit_ = false;
};

}  // namespace zerorun
