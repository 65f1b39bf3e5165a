// Pictures whose quality is measured.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/rd/moments.hpp"
#include "tests/rd/score_sums.hpp"

namespace zerorun::rd {

/// RGB, 3 bytes a pixel, no gaps.
struct Image {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgb;

  std::size_t pixels() const {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  }
};

/// One component as numbers, row by row.
struct Plane {
  int width = 0, height = 0;
  std::vector<float> v;

  Plane() = default;
  Plane(int w, int h)
      : width(w), height(h), v(static_cast<std::size_t>(w) * static_cast<std::size_t>(h)) {}
  float* row(int y) { return v.data() + static_cast<std::ptrdiff_t>(y) * width; }
  const float* row(int y) const { return v.data() + static_cast<std::ptrdiff_t>(y) * width; }
};

/// Luma of JFIF, not rounded.
Plane luma_of(const Image& image);

/// By the Gaussian over rows, then columns. Outside the plane its samples count as 0.
Plane blur(const Plane& in, const BlurTaps& taps);

/// Sample by sample.
Plane product(const Plane& a, const Plane& b);

/// Means of 2x2 samples, as halved_at() has them. `size` is half of the plane's, rounded up or
/// down.
Plane halved(const Plane& in, Size size);

}  // namespace zerorun::rd
