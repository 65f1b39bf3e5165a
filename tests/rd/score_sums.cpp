// The scores of a picture, from what was added up over its samples.
// SPDX-License-Identifier: MIT
#include "tests/rd/score_sums.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/rd/hvs_block.hpp"

namespace zerorun::rd {
namespace {

constexpr int kSsimulacra2Least = 8, kMsSsimLeast = 24;  // samples of a side

/// Windows that lie inside.
double windows(Size size) {
  const int across = std::max(0, size.width - 2 * kBlurRadius);
  const int down = std::max(0, size.height - 2 * kBlurRadius);
  return std::max(1.0, static_cast<double>(across) * down);
}

double peak_ratio(double samples, double squares) {
  return 10 * std::log10(255.0 * 255.0 * samples / std::max(squares, 1e-9));
}

double decibels(double similarity) { return -10 * std::log10(std::max(1 - similarity, 1e-9)); }

double ms_ssim_of(const ScoreSums& sums, const std::vector<Size>& sizes) {
  constexpr std::array<double, kMsSsimScales> kWeights{0.0448, 0.2856, 0.3001, 0.2363, 0.1333};
  double result = 1;
  for (std::size_t scale = 0; scale < sizes.size(); ++scale) {
    const SsimSums& s = sums.ssim[scale];
    const double part =
        (scale + 1 == kMsSsimScales ? s.whole : s.structure) / windows(sizes[scale]);
    result *= std::pow(std::max(part, 1e-6), kWeights[scale]);
  }
  return result;
}

double difference_of(double a, double b, std::size_t metric) {
  if (metric == ssim || metric == ms_ssim) {
    a = std::pow(10, -a / 10);
    b = std::pow(10, -b / 10);
  }
  if (a == b) return 0;  // also minus infinity: a picture below 8x8 has no block
  const double far = std::abs(a - b);
  return std::isnan(far) ? std::numeric_limits<double>::infinity() : far;
}

}  // namespace

std::vector<Size> ms_ssim_scales(Size size) {
  std::vector<Size> sizes = {size};
  while (sizes.size() < kMsSsimScales && size.width >= kMsSsimLeast &&
         size.height >= kMsSsimLeast) {
    size = {size.width / 2, size.height / 2};
    sizes.push_back(size);
  }
  return sizes;
}

std::vector<Size> ssimulacra2_scales(Size size) {
  std::vector<Size> sizes;
  while (sizes.size() < kSsimulacra2Scales && size.width >= kSsimulacra2Least &&
         size.height >= kSsimulacra2Least) {
    sizes.push_back(size);
    size = {(size.width + 1) / 2, (size.height + 1) / 2};
  }
  return sizes;
}

Scores scores_of(const ScoreSums& sums, Size size) {
  const double blocks =
      static_cast<double>(hvs_blocks(size.width)) * static_cast<double>(hvs_blocks(size.height));
  return {peak_ratio(static_cast<double>(size.pixels()), sums.squares),
          decibels(sums.ssim[0].whole / windows(size)),
          decibels(ms_ssim_of(sums, ms_ssim_scales(size))), peak_ratio(64 * blocks, sums.masked),
          ssimulacra2_score(sums, ssimulacra2_scales(size))};
}

double difference(const Scores& a, const Scores& b) {
  double most = 0;
  for (std::size_t m = 0; m < kMetrics; ++m) most = std::max(most, difference_of(a[m], b[m], m));
  return most;
}

}  // namespace zerorun::rd
