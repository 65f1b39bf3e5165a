// The restart intervals of a scan: where the data of each lie and how far it is decoded, what has
// no data, and what the caller is told of them.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codec/base/thread_pool.hpp"
#include "codec/decode/byte_unstuff.hpp"
#include "codec/decode/restart_plan.hpp"
#include "codec/pipeline/coefficient_coder.hpp"
#include "codec/pipeline/decode_pipeline.hpp"
#include "codec/syntax/header_parser.hpp"

namespace zerorun {

/// MCUs [first, end) of a scan. Their blocks have no AC coefficients, and `dc` as the coefficient
/// DC of each component of the scan.
struct FlatMcus {
  std::int64_t first = 0, end = 0;
  std::int16_t dc[kMaxDecodedComponents] = {};
};

/// Keeps the flat MCUs of each component of a frame until all scans are there. A component that is
/// sent again and again, by scans of a few bytes, costs the time of these bytes, and is filled
/// once.
class FlatComponents {
 public:
  /// Forgets all.
  void begin();
  /// `flat` replaces what is known of the scan's components; it is sorted and does not overlap.
  void set(const ScanHeader& scan, std::span<const FlatMcus> flat);

  /// `planes` has one entry a component of the frame; those without data are left out.
  void fill_planes(ThreadPool& pool, const PlaneView* planes) const;
  void fill_coefficients(ThreadPool& pool, StoredFrame& out) const;

 private:
  struct Run {
    std::int64_t first, end;
    std::int16_t dc;
  };
  struct Component {
    ScanLayout layout;
    int index;            ///< of the component, in the scan
    std::uint16_t quant;  ///< of coefficient DC
    std::vector<Run> runs;
  };
  /// Blocks of one component and value: columns [x, x_end), rows [y, y_end).
  struct Blocks {
    std::int32_t x, x_end, y, y_end;
    std::int16_t dc;
  };

  /// Calls fill(component of the frame, blocks) for all runs, on the threads of the pool.
  template <typename Fill>
  void for_each(ThreadPool& pool, const Fill& fill) const;

  Component components_[kMaxDecodedComponents];
};

/// Offset in the stuffed data of clean byte `clean` of a segment.
std::uint64_t source_offset(std::span<const std::uint8_t> data, const EntropySegment& segment,
                            std::uint64_t clean);

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
  std::vector<FlatMcus> flat_;
};

}  // namespace zerorun
