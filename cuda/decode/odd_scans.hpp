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
    const auto known = std::ranges::find_if(
        known_, [&](const Known& k) { return k.left != 0 && scan.is_like(k.scan); });
    if (known == known_.end()) return false;
    --known->left;
    std::rotate(known_.begin(), known, known + 1);
    return true;
  }
  /// In place of those that are like it, or else of the one that was not seen for the longest time.
  void remember(const ScanSize& scan) {
    forget(scan);
    std::rotate(known_.begin(), known_.end() - 1, known_.end());
    known_.front() = {scan, kScansAlike};
  }
  /// Whether it has not been forgotten, even if the usual plan is tried again.
  bool knows(const ScanSize& scan) const {
    return std::ranges::any_of(
        known_, [&](const Known& k) { return k.scan.blocks != 0 && scan.is_like(k.scan); });
  }
  void forget(const ScanSize& scan) {
    const auto free =
        std::ranges::remove_if(known_, [&](const Known& k) { return scan.is_like(k.scan); });
    std::ranges::fill(free, Known{});
  }

 private:
  struct Known {
    ScanSize scan;
    std::uint32_t left;  ///< scans like it that are planned otherwise
  };

  std::array<Known, kOddScans> known_{};  ///< the one that was seen last first
};

}  // namespace zerorun
