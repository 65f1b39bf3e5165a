// Which segment of entropy-coded data belongs to which restart interval (T.81 E.2.4, F.2.2.5).
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codec/decode/byte_unstuff.hpp"

namespace zerorun {

inline constexpr std::int64_t kLostInterval = -1;

struct RestartPlan {
  std::vector<std::int64_t> segment_of_interval;  ///< kLostInterval: nothing of it is there
  std::int64_t first_problem_segment = -1;        ///< where the order broke first; -1: nowhere
};

/// In an undamaged scan segment i is interval i. Where RSTm is not the expected one, the distance
/// modulo 8 decides, as in libjpeg's jpeg_resync_to_restart(): one or two ahead means that so many
/// intervals were lost; one or two behind is a repetition, whose data up to the next marker is
/// dropped; anything else is taken for the expected marker.
/// `segments` is without the closing entry. The plan's memory is reused.
void plan_restarts(std::span<const EntropySegment> segments, std::int64_t intervals,
                   RestartPlan& plan);

}  // namespace zerorun
