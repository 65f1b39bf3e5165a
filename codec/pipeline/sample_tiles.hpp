// A small picture made of tiles of a large one, which stands for it where sizes are estimated.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

#include "codec/arith/host_device.hpp"
#include "zerorun/frame.hpp"

namespace zerorun {

/// Where the tiles lie. Plain data.
struct SampleGrid {
  /// Pixels. Tiles begin at multiples of it, where MCUs of every sampling do.
  static constexpr int kTile = 32;

  int frame_width, frame_height;
  int wide, high;  ///< tiles

  /// Nothing if the frame is so small or narrow that it is its own best sample.
  static std::optional<SampleGrid> of(int width, int height);

  /// Pixels of the frame before a column or row of tiles.
  ZR_HD int x(int column) const { return place(column, wide, frame_width); }
  ZR_HD int y(int row) const { return place(row, high, frame_height); }

 private:
  ZR_HD static int place(int i, int n, int length) {
    const std::int64_t room = length - kTile;
    const std::int64_t at = n == 1 ? room / 2 : room * i / (n - 1);
    return static_cast<int>(at / kTile * kTile);
  }
};

/// Copies tiles that are spread evenly over the frame to `sample`, which has its format and less
/// than a third of its pixels. False, and nothing is copied, where there is no SampleGrid. Errors:
/// those of Frame::reshape().
Result<bool> sample_tiles(const ConstFrameView& frame, Frame& sample);

}  // namespace zerorun
