// Peak signal-to-noise ratio of two frames, as FFmpeg's psnr filter computes it.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

#include "zerorun/frame.hpp"

namespace zerorun::app {

/// Summed squared differences and numbers of samples, per component in the order of the format
/// (Y Cb Cr or R G B). Sums add up over frames exactly, so a stream's PSNR is that of all samples.
struct SquaredError {
  int components = 0;
  std::array<std::uint64_t, 3> sum{};
  std::array<std::uint64_t, 3> samples{};

  void add(const SquaredError& other) noexcept;
  /// In dB; infinity where nothing differs.
  double psnr(int component) const noexcept;
  double psnr() const noexcept;  ///< of all samples of all components
};

/// Both frames have one format and size.
SquaredError squared_error(const ConstFrameView& a, const ConstFrameView& b) noexcept;

}  // namespace zerorun::app
