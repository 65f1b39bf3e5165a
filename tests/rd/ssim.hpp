// SSIM and MS-SSIM (Wang 2003, 2004): the similarity of two pictures in a window.
// SPDX-License-Identifier: MIT
#pragma once

#include "tests/rd/moments.hpp"
#include "codec/arith/host_device.hpp"

namespace zerorun::rd {

/// SSIM, and its contrast and structure alone; of a window, or added up over windows.
struct SsimSums {
  double structure = 0, whole = 0;
};

ZR_HD void add_ssim(const Moments& at, SsimSums& sums) {
  constexpr double kC1 = 6.5025, kC2 = 58.5225;
  const auto m = static_cast<double>(at.mean_a), n = static_cast<double>(at.mean_b);
  const double structure =
      (2 * (static_cast<double>(at.both) - m * n) + kC2) /
      (static_cast<double>(at.square_a) - m * m + static_cast<double>(at.square_b) - n * n + kC2);
  sums.structure += structure;
  sums.whole += structure * (2 * m * n + kC1) / (m * m + n * n + kC1);
}

}  // namespace zerorun::rd
