// Scans for which the usual plan was wrong. The next frame of the same video is like one of them.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "cuda/decode/tuning.hpp"

namespace zerorun {

struct ScanSize {
  std::uint32_t blocks, bytes;

  bool is_like(const ScanSize& other) const {
    const std::uint32_t apart = bytes > other.bytes ? bytes - other.bytes : other.bytes - bytes;
    return blocks == other.blocks && apart <= other.bytes / 8;
  }
};

/// Remembers the last kOddScans of one kind that were seen: a decoder may serve several videos in
/// turn.
class OddScans {
 public:
  /// Whether the scan is like one that is remembered. Each answers for kScansAlike scans; then the
  /// usual plan is tried again.
  bool take(const ScanSize& scan) {
    Known* const known = find(scan);
    if (known == end() || known->left == 0) return false;
    --known->left;
    to_front(known);
    return true;
  }
  /// In place of one that is like it, or else of the one that was not seen for the longest time.
  void remember(const ScanSize& scan) {
    Known* const known = find(scan);
    Known* const place = known == end() ? end() - 1 : known;
    *place = {scan, kScansAlike};
    to_front(place);
  }
  void forget(const ScanSize& scan) {
    if (Known* const known = find(scan); known != end()) *known = {};
  }

 private:
  struct Known {
    ScanSize scan;
    std::uint32_t left;  ///< scans like it that are planned otherwise
  };

  Known* end() { return known_.data() + known_.size(); }
  Known* find(const ScanSize& scan) {
    return std::find_if(known_.data(), end(),
                        [&](const Known& known) { return scan.is_like(known.scan); });
  }
  void to_front(Known* known) { std::rotate(known_.data(), known, known + 1); }

  std::array<Known, kOddScans> known_{};
};

}  // namespace zerorun
