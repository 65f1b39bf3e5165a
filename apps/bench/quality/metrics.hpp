// How far a decoded picture is from its original.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <string_view>

#include "apps/bench/quality/image.hpp"
#include "apps/bench/quality/ssimulacra2.hpp"

namespace zerorun::rd {

enum Metric { psnr, ssim, ms_ssim, psnr_hvs_m, ssimulacra2, kMetrics };
inline constexpr std::array<std::string_view, kMetrics> kMetricNames{"psnr_y", "ssim", "ms_ssim",
                                                                     "psnr_hvs_m", "ssimulacra2"};
using Scores = std::array<double, kMetrics>;

/// All but the last are of luma. SSIM and MS-SSIM (Wang 2003, 2004) are in decibels:
/// -10 log10(1 - x). PSNR-HVS-M (Ponomarenko 2007) is Daala's form of it: other
/// sensitivities, blocks every 7 samples.
class Meter {
 public:
  explicit Meter(const Image& original);
  Scores measure(const Image& distorted) const;

 private:
  Plane luma_;
  Ssimulacra2 ssimulacra2_;
};

/// Of planes of luma.
double psnr_hvs_m_of(const Plane& a, const Plane& b);

}  // namespace zerorun::rd
