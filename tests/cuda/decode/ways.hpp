// What may come of a way in which a scan is tried, for tests.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "cuda/decode/scan_plan.hpp"
#include "cuda/decode/subsequence_walk.hpp"

namespace zerorun {

inline constexpr std::uint32_t kUnsettled = kFaultUnsettled,
                               kWrongEnd = kUnsettled | kFaultForetold,
                               kLate = kUnsettled | kFaultLateWalks;

/// Only how it is walked.
inline SubsequencePlan plan_of(FarWalks walks) {
  SubsequencePlan plan{};
  plan.far_only = walks != FarWalks::if_dense;
  plan.every_bit = walks == FarWalks::from_every_bit;
  return plan;
}

}  // namespace zerorun
