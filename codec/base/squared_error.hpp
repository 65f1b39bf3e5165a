// Peak signal-to-noise ratio of two frames, as FFmpeg's psnr filter computes it.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

#include "zerorun/frame.hpp"

namespace zerorun {

/// Sums of squared differences and numbers of samples, per component in the order of the format
/// (Y Cb Cr or R G B). They are exact over many frames: a stream's PSNR is that of all its samples.
struct SquaredError {
  int components = 0;
  bool is_rgb = false;  ///< else Y, or Y Cb Cr
  std::array<std::uint64_t, 3> sum{};
  std::array<std::uint64_t, 3> samples{};

  void add(const SquaredError& other) noexcept;
  /// In dB; infinity if nothing differs.
  double psnr(int component) const noexcept;
  double psnr() const noexcept;  ///< over the samples of all components
};

/// Both frames must have the same format and size.
SquaredError squared_error(const ConstFrameView& a, const ConstFrameView& b) noexcept;

}  // namespace zerorun
