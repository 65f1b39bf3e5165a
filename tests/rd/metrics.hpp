// How far a decoded picture is from its original, on the CPU.
// SPDX-License-Identifier: MIT
#pragma once

#include "tests/rd/image.hpp"
#include "tests/rd/score_sums.hpp"
#include "tests/rd/ssimulacra2.hpp"

namespace zerorun::rd {

/// SSIM and MS-SSIM as Wang has them (2003, 2004). PSNR-HVS-M (Ponomarenko 2007) is Daala's form of
/// it: other sensitivities, blocks every 7 samples.
class Meter {
 public:
  explicit Meter(const Image& original);
  /// `distorted` has the size of the original.
  Scores measure(const Image& distorted) const;
  ScoreSums sums(const Image& distorted) const;

 private:
  Plane luma_;
  Ssimulacra2 ssimulacra2_;
};

/// The errors of PSNR-HVS-M, of planes of luma.
double masked_errors(const Plane& a, const Plane& b);

}  // namespace zerorun::rd
