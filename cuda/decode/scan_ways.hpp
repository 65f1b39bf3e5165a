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
  ScanWays() = default;
  /// The first way: that of `plan`. If chunks do not foretell, they told a wrong end in a scan like
  /// this one.
  ScanWays(const SubsequencePlan& plan, bool foretells)
      : walks_(plan.every_bit  ? FarWalks::from_every_bit
               : plan.far_only ? FarWalks::from_guesses
                               : FarWalks::if_dense),
        foretells_(foretells),
        told_wrong_(!foretells),
        tried_guesses_(walks_ == FarWalks::from_guesses),
        tried_every_bit_(walks_ == FarWalks::from_every_bit) {}

  FarWalks walks() const { return walks_; }
  bool foretells() const { return foretells_; }
  /// Walks from every bit were in vain.
  bool is_last() const { return tried_every_bit_ && walks_ != FarWalks::from_every_bit; }

  /// The long walks for which the device has memory.
  struct Fits {
    bool from_guesses, from_every_bit;
  };
  /// Chooses the next way after one with kFaultUnsettled among its faults. Returns false if none is
  /// left. Any way takes far less time than the careful decoder.
  bool choose_next(std::uint32_t faults, const Fits& fits) {
    const bool tells_wrong = (faults & kFaultForetold) != 0;
    const bool many_late_walks = (faults & kFaultLateWalks) != 0;
    told_wrong_ |= tells_wrong;
    // Walks from guesses met in a wrong state. Long walks mostly find the right one; those from
    // every bit do where so many late walks were needed that no guess seems to be right, or that
    // they would take longer, and where chunks told a wrong end; theirs hardly ever do.
    if (!told_wrong_ && !many_late_walks && go(FarWalks::from_guesses, fits)) return true;
    if (go(FarWalks::from_every_bit, fits)) {
      // Long walks from guesses may be right with more late walks, or if each chunk waits.
      tried_guesses_ &= !(tells_wrong || many_late_walks);
      foretells_ = true;
      return true;
    }
    if (tells_wrong && std::exchange(foretells_, false)) return true;
    if (!go(FarWalks::from_guesses, fits)) return false;
    foretells_ = !told_wrong_;
    return true;
  }

 private:
  bool go(FarWalks walks, const Fits& fits) {
    const bool every_bit = walks == FarWalks::from_every_bit;
    bool& tried = every_bit ? tried_every_bit_ : tried_guesses_;
    if (tried || !(every_bit ? fits.from_every_bit : fits.from_guesses)) return false;
    walks_ = walks;
    return tried = true;
  }

  FarWalks walks_ = FarWalks::if_dense;
  bool foretells_ = true;
  bool told_wrong_ = false;  ///< some chunk, in some way
  bool tried_guesses_ = false, tried_every_bit_ = false;
};

}  // namespace zerorun
