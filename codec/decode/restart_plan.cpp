// Which segment of entropy-coded data belongs to which restart interval.
// SPDX-License-Identifier: MIT
#include "codec/decode/restart_plan.hpp"

#include "codec/syntax/marker.hpp"

namespace zerorun {

void plan_restarts(std::span<const EntropySegment> segments, std::int64_t intervals,
                   RestartPlan& plan) {
  plan.segment_of_interval.assign(static_cast<std::size_t>(intervals), kLostInterval);
  plan.first_problem_segment = -1;
  plan.only_surplus = false;
  const auto note = [&](std::size_t segment) {
    if (plan.first_problem_segment < 0)
      plan.first_problem_segment = static_cast<std::int64_t>(segment);
  };
  std::int64_t interval = 0;  // of segment s
  bool dropped = false;       // segment s follows a repeated marker
  for (std::size_t s = 0; s < segments.size(); ++s) {
    if (!dropped) {
      if (interval >= intervals) {  // more data than the image has intervals
        plan.only_surplus = plan.first_problem_segment < 0;
        return note(s);
      }
      plan.segment_of_interval[static_cast<std::size_t>(interval)] = static_cast<std::int64_t>(s);
    }
    if (segments[s].marker == 0) break;
    const int ahead =
        (static_cast<int>(segments[s].marker) - marker::kRst0 - static_cast<int>(interval % 8)) & 7;
    if (ahead != 0) note(s);
    dropped = ahead == 7 || ahead == 6;
    if (!dropped) interval += ahead == 1 || ahead == 2 ? 1 + ahead : 1;
  }
  if (interval + 1 < intervals) note(segments.size() - 1);
}

}  // namespace zerorun
