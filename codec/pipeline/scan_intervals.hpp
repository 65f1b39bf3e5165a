// The restart intervals of a scan on the CPU: where the data of each lie, and how far it is
// decoded.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codec/decode/byte_unstuff.hpp"
#include "codec/decode/interval_state.hpp"
#include "codec/decode/restart_plan.hpp"
#include "codec/pipeline/flat_mcus.hpp"
#include "codec/pipeline/scan_report.hpp"

namespace zerorun {

/// Keeps its memory from scan to scan.
class ScanIntervals {
 public:
  /// `segments` includes the closing entry, and outlives the scan.
  void begin(const ScanLayout& layout, std::span<const EntropySegment> segments);

  /// After begin(): intervals without an MCU of the planes' blocks are not decoded, and the others
  /// up to their last one. `planes` has one entry a component of the frame.
  void limit(const ScanHeader& scan, const PlaneView* planes);

  /// Intervals that may have data, which are the first of the scan. The others are lost.
  std::int64_t reached() const { return static_cast<std::int64_t>(states_.size()); }
  IntervalState& operator[](std::int64_t interval) {
    return states_[static_cast<std::size_t>(interval)];
  }

  /// When all intervals are decoded: fills the outcome but for its consumed_bytes. `data` are the
  /// stuffed bytes.
  void report(const ScanLayout& layout, std::span<const std::uint8_t> data, ScanOutcome& outcome);
  /// The same, and tells `flat` which MCUs have no data.
  void finish(const ScanHeader& scan, std::span<const std::uint8_t> data, FlatComponents& flat,
              ScanOutcome& outcome);

 private:
  std::span<const EntropySegment> segments_;
  RestartPlan plan_;
  std::vector<IntervalState> states_;
  std::vector<IntervalResult> results_;
  std::vector<FlatMcus> flat_;
};

}  // namespace zerorun
