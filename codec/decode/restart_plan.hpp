// Restart intervals: which segment of entropy-coded data belongs to which of them (T.81 E.2.4,
// F.2.2.5), and how far each is decoded.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codec/base/marker.hpp"
#include "codec/decode/byte_unstuff.hpp"
#include "codec/syntax/scan_layout.hpp"
#include "zerorun/status.hpp"

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
inline void plan_restarts(std::span<const EntropySegment> segments, std::int64_t intervals,
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

/// The decoder's state before an MCU.
struct McuStart {
  std::uint64_t bit = 0;  ///< of the scan's clean bytes
  std::int64_t mcu = 0;
  std::int16_t dc[kMaxDecodedComponents] = {};  ///< the last DC of each component

  friend bool operator==(const McuStart&, const McuStart&) = default;
};

/// A restart interval while it is decoded. Behind a fault no block has data: all are as the DC
/// prediction leaves them.
struct IntervalState {
  McuStart at;  ///< the next MCU to decode. With a fault: `at.bit` is where the faulty block starts
  std::int64_t end_mcu = 0;
  std::uint64_t end_bit = 0;  ///< of its segment
  Errc fault = Errc::ok;
  bool is_lost = false;  ///< it has no segment
  bool is_cut = false;   ///< MCUs behind end_mcu are not wanted

  bool has_data() const { return !is_lost && fault == Errc::ok && at.mcu < end_mcu; }
};

}  // namespace zerorun
