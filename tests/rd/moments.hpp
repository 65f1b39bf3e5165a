// The Gaussian window of SSIM and SSIMULACRA2, and what is known of two pictures in it.
// SPDX-License-Identifier: MIT
#pragma once

namespace zerorun::rd {

inline constexpr int kBlurRadius = 5, kBlurTaps = 2 * kBlurRadius + 1;

/// Of sigma 1.5. They add up to 1.
struct BlurTaps {
  float tap[kBlurTaps];
};
BlurTaps blur_taps();

/// Two planes at a sample, and blurred there.
struct Moments {
  float a, b;
  float mean_a, mean_b;
  float square_a, square_b, both;  ///< of a*a, b*b, a*b
};

}  // namespace zerorun::rd
