// PSNR, SSIM and MS-SSIM.
// SPDX-License-Identifier: MIT
#include "tests/rd/metrics.hpp"

#include <utility>

namespace zerorun::rd {
namespace {

double squared_differences(const Plane& a, const Plane& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.v.size(); ++i) {
    const double d = static_cast<double>(a.v[i]) - static_cast<double>(b.v[i]);
    sum += d * d;
  }
  return sum;
}

/// Over windows that lie inside.
SsimSums similarity(const Plane& a, const Plane& b) {
  const BlurTaps taps = blur_taps();
  const Plane ma = blur(a, taps), mb = blur(b, taps), aa = blur(product(a, a), taps),
              bb = blur(product(b, b), taps), ab = blur(product(a, b), taps);
  SsimSums sums;
  for (int y = kBlurRadius; y < a.height - kBlurRadius; ++y)
    for (int x = kBlurRadius; x < a.width - kBlurRadius; ++x) {
      const auto at = [x, y](const Plane& p) { return p.row(y)[x]; };
      add_ssim({at(a), at(b), at(ma), at(mb), at(aa), at(bb), at(ab)}, sums);
    }
  return sums;
}

void add_similarities(Plane a, Plane b, ScoreSums& sums) {
  const std::vector<Size> sizes = ms_ssim_scales({a.width, a.height});
  for (std::size_t scale = 0; scale < sizes.size(); ++scale) {
    if (scale > 0) {
      a = halved(a, sizes[scale]);
      b = halved(b, sizes[scale]);
    }
    sums.ssim[scale] = similarity(a, b);
  }
}

}  // namespace

Meter::Meter(const Image& original) : luma_(luma_of(original)), ssimulacra2_(original) {}

ScoreSums Meter::sums(const Image& distorted) const {
  Plane luma = luma_of(distorted);
  ScoreSums sums;
  sums.squares = squared_differences(luma_, luma);
  sums.masked = masked_errors(luma_, luma);
  add_similarities(luma_, std::move(luma), sums);
  ssimulacra2_.add(distorted, sums);
  return sums;
}

Scores Meter::measure(const Image& distorted) const {
  return scores_of(sums(distorted), {distorted.width, distorted.height});
}

}  // namespace zerorun::rd
