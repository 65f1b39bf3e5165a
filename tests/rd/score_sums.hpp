// What is added up over the samples of a picture, and the scores that are made of it.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "tests/rd/ssim.hpp"
#include "tests/rd/xyb.hpp"

namespace zerorun::rd {

enum Metric { psnr, ssim, ms_ssim, psnr_hvs_m, ssimulacra2, kMetrics };
inline constexpr std::array<std::string_view, kMetrics> kMetricNames{"psnr_y", "ssim", "ms_ssim",
                                                                     "psnr_hvs_m", "ssimulacra2"};
/// All but the last are of luma. SSIM and MS-SSIM are in decibels: -10 log10(1 - x).
using Scores = std::array<double, kMetrics>;

struct Size {
  int width = 0, height = 0;
  std::size_t pixels() const {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  }
  bool operator==(const Size&) const = default;
};

inline constexpr std::size_t kMsSsimScales = 5, kSsimulacra2Scales = 6;

/// The sizes of a picture's scales, as many as the metric has for it: a picture without 24 samples
/// of a side has no further scale in MS-SSIM, one without 8 none in SSIMULACRA2.
std::vector<Size> ms_ssim_scales(Size size);
std::vector<Size> ssimulacra2_scales(Size size);

/// Nothing but doubles: a GPU writes them one by one.
struct ScoreSums {
  double squares = 0;  ///< of differences of luma
  double masked = 0;   ///< errors of PSNR-HVS-M
  std::array<SsimSums, kMsSsimScales> ssim{};
  std::array<std::array<FeatureSums, 3>, kSsimulacra2Scales> features{};  ///< of X, Y, B
};

Scores scores_of(const ScoreSums& sums, Size size);

/// SSIMULACRA2 of as many scales as there are in `sizes`.
double ssimulacra2_score(const ScoreSums& sums, const std::vector<Size>& sizes);

/// The largest difference of two meters' scores of the same picture, in decibels and points.
/// Similarities are compared themselves: of pictures that are nearly equal, decibels of 1 - x show
/// the last bit of x.
double difference(const Scores& a, const Scores& b);

/// The meters of the CPU and of the GPU give every sample the same bits, as neither fuses a product
/// and a sum. They add up in different order: sums of n values then differ by less than 2^-52 n of
/// what they are, 2e-9 for a frame of 3840x2160, and scores by less than 300 times that, which a
/// SSIMULACRA2 far below 0 comes near to.
inline constexpr double kSameScores = 1e-6;

}  // namespace zerorun::rd
