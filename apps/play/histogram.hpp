// How often each value of a sample comes, and which samples are clipped.
// SPDX-License-Identifier: MIT
#pragma once

#include <SDL.h>

#include <array>
#include <cstdint>
#include <string>

#include "zerorun/frame.hpp"
#include "zerorun/status.hpp"

namespace zerorun::app {

/// Of a frame in yuv420p or gray8 (luma), or bgrx32 (red, green, blue).
class Histogram {
 public:
  /// Counts all samples. Fills `mask`, a frame in bgrx32 with the alpha in its fourth byte: red
  /// where a sample is 255, blue where it is 0 (RGB: where all three are), else transparent.
  Status update(const ConstFrameView& frame, Frame& mask);
  void draw(SDL_Renderer* renderer, const SDL_Rect& area) const;
  /// "clipped: 1.25 % at 255, 0.00 % at 0"
  std::string text() const;

 private:
  using Counts = std::array<std::uint32_t, 256>;
  void count_luma(const ConstFrameView& frame, const FrameView& mask);
  void count_rgb(const ConstFrameView& frame, const FrameView& mask);

  int channels_ = 0;  // 1: luma; 3: blue, green, red
  std::array<Counts, 3> counts_{};
  std::uint64_t high_ = 0, low_ = 0, pixels_ = 0;
};

}  // namespace zerorun::app
