// Which strategy decoded the last scan of the same shape: the next frame of a video is like the one
// before. With it the patterns and halftones of `contents_bench`, which the map strategy cannot
// decode, take 0.4 to 0.75 ms a frame, and 1.1 to 1.5 without it (H100, 2026-11-28).
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "cuda/decode/tuning.hpp"

namespace zerorun {

/// Holds the shapes of the last kStrategyShapes scans that the map strategy failed and the
/// exhaustive strategy decoded; a decoder may serve several videos in turn. One instance per
/// decoder.
class StrategyMemory {
 public:
  struct Shape {
    std::uint32_t blocks, bytes;
    /// The same blocks, and bytes that differ by at most a sixteenth.
    bool is_like(const Shape& other) const {
      const std::uint32_t apart = bytes > other.bytes ? bytes - other.bytes : other.bytes - bytes;
      return blocks == other.blocks && apart <= other.bytes / 16;
    }
  };

  /// Whether the exhaustive strategy should come first. True for kStrategyTrust scans of a shape;
  /// then the map strategy is tried again.
  bool skips_map(const Shape& scan) {
    const auto known = std::ranges::find_if(
        known_, [&](const Known& k) { return k.left != 0 && scan.is_like(k.shape); });
    if (known == known_.end()) return false;
    --known->left;
    return true;
  }

  /// After the map strategy was tried. `failed`: the exhaustive strategy decoded the scan.
  void map_was_tried(const Shape& scan, bool failed) {
    const auto known =
        std::ranges::find_if(known_, [&](const Known& k) { return scan.is_like(k.shape); });
    if (!failed) {
      if (known != known_.end()) *known = {};
      return;
    }
    const auto slot = known != known_.end() ? known : known_.end() - 1;
    *slot = {scan, kStrategyTrust};
    std::rotate(known_.begin(), slot, slot + 1);  // the newest first
  }

 private:
  struct Known {
    Shape shape;
    std::uint32_t left;  ///< scans that skip the map strategy
  };
  std::array<Known, kStrategyShapes> known_{};
};

}  // namespace zerorun
