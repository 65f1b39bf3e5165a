// Which segment of entropy-coded data belongs to which restart interval (T.81 E.2.4, F.2.2.5).
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codec/decode/byte_unstuff.hpp"

namespace zerorun {

inline constexpr std::int64_t kLostInterval = -1;  ///< the interval has no data

struct RestartPlan {
  std::vector<std::int64_t> segment_of_interval;  ///< or kLostInterval
  std::int64_t first_problem_segment = -1;        ///< the first that is out of order; -1: none
  bool only_surplus = false;  ///< that one follows the last interval: nothing of the image is lost
};

/// In an undamaged scan segment i is interval i. If RSTm is not the expected one, the distance
/// modulo 8 decides, as in libjpeg's jpeg_resync_to_restart(): one or two ahead means that this
/// number of intervals was lost; one or two behind is a repetition, and the data up to the next
/// marker are dropped; any other marker counts as the expected one. `segments` is without the
/// closing entry. The plan's memory is reused.
void plan_restarts(std::span<const EntropySegment> segments, std::int64_t intervals,
                   RestartPlan& plan);

}  // namespace zerorun
