// PSNR, SSIM and MS-SSIM.
// SPDX-License-Identifier: MIT
#include "apps/bench/quality/metrics.hpp"

#include <algorithm>
#include <cmath>

namespace zerorun::rd {
namespace {

double psnr_of(const Plane& a, const Plane& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.v.size(); ++i) {
    const double d = static_cast<double>(a.v[i]) - static_cast<double>(b.v[i]);
    sum += d * d;
  }
  return 10 * std::log10(255.0 * 255.0 * static_cast<double>(a.v.size()) / std::max(sum, 1e-9));
}

Plane product(const Plane& a, const Plane& b) {
  Plane out(a.width, a.height);
  for (std::size_t i = 0; i < a.v.size(); ++i) out.v[i] = a.v[i] * b.v[i];
  return out;
}

Plane halved(const Plane& in) {
  Plane out(in.width / 2, in.height / 2);
  for (int y = 0; y < out.height; ++y)
    for (int x = 0; x < out.width; ++x)
      out.row(y)[x] = 0.25F * (in.row(2 * y)[2 * x] + in.row(2 * y)[2 * x + 1] +
                               in.row(2 * y + 1)[2 * x] + in.row(2 * y + 1)[2 * x + 1]);
  return out;
}

struct Similarity {
  double whole, structure;  ///< mean of SSIM, and of its contrast and structure alone
};

/// The means are over windows that lie inside.
Similarity similarity(const Plane& a, const Plane& b) {
  constexpr int kRadius = 5;
  constexpr double kC1 = 6.5025, kC2 = 58.5225;
  const auto taps = gaussian(1.5F, kRadius);
  const Plane ma = blur(a, taps), mb = blur(b, taps), aa = blur(product(a, a), taps),
              bb = blur(product(b, b), taps), ab = blur(product(a, b), taps);
  Similarity sum{0, 0};
  std::size_t count = 0;
  for (int y = kRadius; y < a.height - kRadius; ++y)
    for (int x = kRadius; x < a.width - kRadius; ++x, ++count) {
      const auto at = [&](const Plane& p) { return static_cast<double>(p.row(y)[x]); };
      const double m = at(ma), n = at(mb);
      const double structure =
          (2 * (at(ab) - m * n) + kC2) / (at(aa) - m * m + at(bb) - n * n + kC2);
      sum.structure += structure;
      sum.whole += structure * (2 * m * n + kC1) / (m * m + n * n + kC1);
    }
  const auto n = static_cast<double>(std::max<std::size_t>(count, 1));
  return {sum.whole / n, sum.structure / n};
}

double ms_ssim_of(Plane a, Plane b) {
  constexpr std::array<double, 5> kWeights{0.0448, 0.2856, 0.3001, 0.2363, 0.1333};
  double result = 1;
  for (std::size_t scale = 0; scale < kWeights.size(); ++scale) {
    const Similarity s = similarity(a, b);
    const double part = scale + 1 == kWeights.size() ? s.whole : s.structure;
    result *= std::pow(std::max(part, 1e-6), kWeights[scale]);
    if (a.width < 24 || a.height < 24) break;
    a = halved(a);
    b = halved(b);
  }
  return result;
}

double decibels(double similarity) { return -10 * std::log10(std::max(1 - similarity, 1e-9)); }

}  // namespace

Meter::Meter(const Image& original) : luma_(luma_of(original)), ssimulacra2_(original) {}

Scores Meter::measure(const Image& distorted) const {
  const Plane luma = luma_of(distorted);
  return {psnr_of(luma_, luma), decibels(similarity(luma_, luma).whole),
          decibels(ms_ssim_of(luma_, luma)), psnr_hvs_m_of(luma_, luma),
          ssimulacra2_.score(distorted)};
}

}  // namespace zerorun::rd
