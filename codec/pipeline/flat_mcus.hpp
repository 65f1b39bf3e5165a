// The part of a damaged scan that has no data: blocks of one value, written once, when the image
// ends.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codec/base/thread_pool.hpp"
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
  template <typename Fill>
  static void fill_mcu_row(const Component& component, std::int64_t row, const Fill& fill);

  Component components_[kMaxDecodedComponents];
};

}  // namespace zerorun
