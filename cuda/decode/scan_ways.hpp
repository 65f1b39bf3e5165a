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
  /// The first way: that of `plan`, in which other walks than `usual` has were right for a scan
  /// like this one. If chunks do not foretell, they told a wrong end in such a scan. `is_patient`:
  /// long walks from guesses have the most late walks from the beginning.
  ScanWays(const SubsequencePlan& plan, const SubsequencePlan& usual, bool foretells,
           bool is_patient)
      : walks_(plan.every_bit  ? FarWalks::from_every_bit
               : plan.far_only ? FarWalks::from_guesses
                               : FarWalks::if_dense),
        foretells_(foretells),
        is_patient_(is_patient),
        guesses_told_wrong_(walks_ == FarWalks::from_guesses && !foretells),
        usual_may_wait_(plan.far_only && !usual.far_only),
        tried_guesses_(walks_ == FarWalks::from_guesses),
        tried_every_bit_(walks_ == FarWalks::from_every_bit) {}

  FarWalks walks() const { return walks_; }
  bool foretells() const { return foretells_; }
  /// Walks from every bit were in vain.
  bool is_last() const { return tried_every_bit_ && walks_ != FarWalks::from_every_bit; }

  /// What became of a way that had kFaultUnsettled among its faults.
  struct Failure {
    std::uint32_t faults;
    bool walked_far;  ///< most chunks were synchronised by long walks
  };
  /// The long walks for which the device has memory.
  struct Fits {
    bool from_guesses, from_every_bit;
  };
  /// Chooses the next way. Returns false if none is left. Any way takes far less time than the
  /// careful decoder.
  bool choose_next(const Failure& failure, const Fits& fits) {
    const bool told_wrong = (failure.faults & kFaultForetold) != 0;
    const bool many_late_walks = (failure.faults & kFaultLateWalks) != 0;
    const bool was_usual = walks_ == FarWalks::if_dense;
    if (told_wrong && walks_ == FarWalks::from_guesses) guesses_told_wrong_ = true;
    usual_may_wait_ = usual_may_wait_ || (told_wrong && was_usual && foretells_);
    // Walks from guesses met in a wrong state. Long walks mostly find the right one; those from
    // every bit do where so many late walks were needed that no guess seems to be right, or that
    // walks from guesses would take longer, and where long walks told a wrong end.
    const bool may_be_far = !many_late_walks && !(told_wrong && failure.walked_far);
    if (was_usual && may_be_far && go(FarWalks::from_guesses, fits)) return true;
    if (go(FarWalks::from_every_bit, fits)) {
      // Long walks from guesses may be right with more late walks, or if each chunk waits.
      if (told_wrong || (many_late_walks && !is_patient_)) tried_guesses_ = false;
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

  FarWalks walks_ = FarWalks::if_dense;
  bool foretells_ = true;
  bool is_patient_ = false;
  bool guesses_told_wrong_ = false;  ///< chunks did, in long walks from guesses
  /// The usual way was not tried, or chunks told a wrong end in it; it may be right if they wait.
  bool usual_may_wait_ = false;
  bool tried_guesses_ = false, tried_every_bit_ = false;
};

}  // namespace zerorun
