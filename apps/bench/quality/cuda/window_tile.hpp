// How a CTA finds the moments of a tile of samples. It equals blur() of image.hpp bit for bit;
// window_tile_test runs the threads one by one on the host and compares the two.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "apps/bench/quality/moments.hpp"
#include "codec/arith/host_device.hpp"

namespace zerorun::rd {

/// A warp makes a row of a tile.
inline constexpr int kTileWidth = 32, kTileHeight = 16, kTileThreads = 256;

/// A plane of the original and the same of the distorted picture, [height][width].
struct PlanePair {
  const float *a, *b;
  int width, height;
};

/// What the CTA shares. Its threads take the three steps below, with a barrier between each.
struct WindowTile {
  static constexpr int kWidth = kTileWidth + 2 * kBlurRadius;
  static constexpr int kHeight = kTileHeight + 2 * kBlurRadius;
  float a[kHeight][kWidth], b[kHeight][kWidth];
  /// Blurred along rows: a, b, a*a, b*b, a*b.
  float rows[5][kHeight][kTileWidth];
};

/// Step 1 loads the tile whose first sample is (x0, y0), with the samples around it. Those outside
/// the planes count as 0.
ZR_HD void load_window(WindowTile& tile, const PlanePair& planes, int x0, int y0, int thread) {
  for (int i = thread; i < WindowTile::kHeight * WindowTile::kWidth; i += kTileThreads) {
    const int row = i / WindowTile::kWidth, column = i % WindowTile::kWidth;
    const int x = x0 + column - kBlurRadius, y = y0 + row - kBlurRadius;
    const bool inside = x >= 0 && x < planes.width && y >= 0 && y < planes.height;
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(y) * planes.width + x;
    tile.a[row][column] = inside ? planes.a[at] : 0.0F;
    tile.b[row][column] = inside ? planes.b[at] : 0.0F;
  }
}

/// Step 2 blurs along rows.
ZR_HD void blur_window_rows(WindowTile& tile, const BlurTaps& taps, int thread) {
  for (int i = thread; i < WindowTile::kHeight * kTileWidth; i += kTileThreads) {
    const int row = i / kTileWidth, column = i % kTileWidth;
    float sums[5] = {};
    for (int t = 0; t < kBlurTaps; ++t) {
      const float tap = taps.tap[t], a = tile.a[row][column + t], b = tile.b[row][column + t];
      sums[0] += tap * a;
      sums[1] += tap * b;
      sums[2] += tap * (a * a);
      sums[3] += tap * (b * b);
      sums[4] += tap * (a * b);
    }
    for (int p = 0; p < 5; ++p) tile.rows[p][row][column] = sums[p];
  }
}

/// Step 3 blurs along a column, for the tile's sample (x, y).
ZR_HD Moments moments_at(const WindowTile& tile, const BlurTaps& taps, int x, int y) {
  float sums[5] = {};
  for (int t = 0; t < kBlurTaps; ++t)
    for (int p = 0; p < 5; ++p) sums[p] += taps.tap[t] * tile.rows[p][y + t][x];
  return {tile.a[y + kBlurRadius][x + kBlurRadius],
          tile.b[y + kBlurRadius][x + kBlurRadius],
          sums[0],
          sums[1],
          sums[2],
          sums[3],
          sums[4]};
}

}  // namespace zerorun::rd
