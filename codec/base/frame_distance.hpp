// How far two frames are from each other: PSNR and SSIM, as FFmpeg's filters compute them.
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

/// The mean over windows of 8x8 samples, four samples apart: 1 where nothing differs. Luma of RGB
/// is JFIF's. Frames of less than 8x8 samples have no window and give 1 if they are equal, else 0.
/// Both frames must have the same size and format. The result is the same on every machine.
double luma_ssim(const ConstFrameView& a, const ConstFrameView& b);

}  // namespace zerorun
