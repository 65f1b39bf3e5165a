// PSNR, SSIM and MS-SSIM, and what the metrics share: planes, their blur and their halves.
// SPDX-License-Identifier: MIT
#include "tests/rd/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace zerorun::rd {
namespace {

constexpr int kBlurTaps = 2 * kBlurRadius + 1;
using BlurTaps = std::array<float, kBlurTaps>;

/// They add up to 1.
BlurTaps blur_taps() {
  constexpr float kSigma = 1.5F;
  BlurTaps taps;
  float sum = 0;
  for (int i = -kBlurRadius; i <= kBlurRadius; ++i) {
    float& tap = taps[static_cast<std::size_t>(i + kBlurRadius)];
    tap = std::exp(-static_cast<float>(i * i) / (2 * kSigma * kSigma));
    sum += tap;
  }
  for (float& tap : taps) tap /= sum;
  return taps;
}

void blur_row(const float* in, int width, const BlurTaps& taps, std::vector<float>& wide,
              float* out) {
  std::copy_n(in, width, wide.begin() + kBlurRadius);
  std::fill_n(out, width, 0.0F);
  for (std::size_t t = 0; t < taps.size(); ++t) {
    const float* from = wide.data() + t;
    for (int x = 0; x < width; ++x) out[x] += taps[t] * from[x];
  }
}

/// Luma of JFIF, not rounded.
Plane luma_of(const Image& image) {
  Plane out(image.width, image.height);
  const auto part = [&image](std::size_t i) { return static_cast<float>(image.rgb[i]); };
  for (std::size_t i = 0; i < out.v.size(); ++i)
    out.v[i] = 0.299F * part(3 * i) + 0.587F * part(3 * i + 1) + 0.114F * part(3 * i + 2);
  return out;
}

double squared_differences(const Plane& a, const Plane& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.v.size(); ++i) {
    const double d = static_cast<double>(a.v[i]) - static_cast<double>(b.v[i]);
    sum += d * d;
  }
  return sum;
}

double peak_ratio(double samples, double squares) {
  return 10 * std::log10(255.0 * 255.0 * samples / std::max(squares, 1e-9));
}

double decibels(double similarity) { return -10 * std::log10(std::max(1 - similarity, 1e-9)); }

/// SSIM, and its contrast and structure alone; added up over windows, then their mean.
struct Similarity {
  double structure = 0, whole = 0;

  void add(const Moments& at) {
    constexpr double kC1 = 6.5025, kC2 = 58.5225;
    const auto m = static_cast<double>(at.mean_a), n = static_cast<double>(at.mean_b);
    const double part =
        (2 * (static_cast<double>(at.both) - m * n) + kC2) /
        (static_cast<double>(at.square_a) - m * m + static_cast<double>(at.square_b) - n * n + kC2);
    structure += part;
    whole += part * (2 * m * n + kC1) / (m * m + n * n + kC1);
  }
};

/// Of windows that lie inside.
Similarity similarity(const Plane& a, const Plane& b) {
  const Plane ma = blur(a), mb = blur(b), aa = blur(product(a, a)), bb = blur(product(b, b)),
              ab = blur(product(a, b));
  Similarity sums;
  for (int y = kBlurRadius; y < a.height - kBlurRadius; ++y)
    for (int x = kBlurRadius; x < a.width - kBlurRadius; ++x) {
      const auto at = [x, y](const Plane& p) { return p.row(y)[x]; };
      sums.add({at(a), at(b), at(ma), at(mb), at(aa), at(bb), at(ab)});
    }
  const int across = std::max(0, a.width - 2 * kBlurRadius);
  const int down = std::max(0, a.height - 2 * kBlurRadius);
  const double windows = std::max(1.0, static_cast<double>(across) * down);
  return {sums.structure / windows, sums.whole / windows};
}

void add_similarities(Plane a, Plane b, Scores& scores) {
  constexpr std::array<double, kMsSsimScales> kWeights{0.0448, 0.2856, 0.3001, 0.2363, 0.1333};
  const std::vector<Size> sizes = ms_ssim_scales({a.width, a.height});
  double all = 1;
  for (std::size_t scale = 0; scale < sizes.size(); ++scale) {
    if (scale > 0) {
      a = halved(a, sizes[scale]);
      b = halved(b, sizes[scale]);
    }
    const Similarity found = similarity(a, b);
    if (scale == 0) scores[ssim] = decibels(found.whole);
    const double part = scale + 1 == kMsSsimScales ? found.whole : found.structure;
    all *= std::pow(std::max(part, 1e-6), kWeights[scale]);
  }
  scores[ms_ssim] = decibels(all);
}

}  // namespace

Plane blur(const Plane& in) {
  static const BlurTaps taps = blur_taps();
  Plane rows(in.width, in.height), out(in.width, in.height);
  std::vector<float> wide(static_cast<std::size_t>(in.width) + kBlurTaps);
  for (int y = 0; y < in.height; ++y) blur_row(in.row(y), in.width, taps, wide, rows.row(y));
  for (int y = 0; y < in.height; ++y) {
    float* to = out.row(y);
    for (int t = std::max(-kBlurRadius, -y); t <= std::min(kBlurRadius, in.height - 1 - y); ++t) {
      const float tap = taps[static_cast<std::size_t>(t + kBlurRadius)];
      const float* from = rows.row(y + t);
      for (int x = 0; x < in.width; ++x) to[x] += tap * from[x];
    }
  }
  return out;
}

Plane product(const Plane& a, const Plane& b) {
  Plane out(a.width, a.height);
  for (std::size_t i = 0; i < a.v.size(); ++i) out.v[i] = a.v[i] * b.v[i];
  return out;
}

Plane halved(const Plane& in, Size size) {
  Plane out(size.width, size.height);
  for (int y = 0; y < out.height; ++y) {
    const float* const a = in.row(2 * y);
    const float* const b = in.row(std::min(2 * y + 1, in.height - 1));
    for (int x = 0; x < out.width; ++x) {
      const int right = std::min(2 * x + 1, in.width - 1);
      out.row(y)[x] = 0.25F * (a[2 * x] + a[right] + b[2 * x] + b[right]);
    }
  }
  return out;
}

std::vector<Size> ms_ssim_scales(Size size) {
  constexpr int kLeast = 24;
  std::vector<Size> sizes = {size};
  while (sizes.size() < kMsSsimScales && size.width >= kLeast && size.height >= kLeast) {
    size = {size.width / 2, size.height / 2};
    sizes.push_back(size);
  }
  return sizes;
}

Scores no_scores() {
  Scores scores;
  scores.fill(std::numeric_limits<double>::quiet_NaN());
  return scores;
}

Meter::Meter(const Image& original) : luma_(luma_of(original)), ssimulacra2_(original) {}

Scores Meter::measure(const Image& distorted) const {
  const Plane luma = luma_of(distorted);
  const double blocks = static_cast<double>(hvs_blocks(luma.width)) * hvs_blocks(luma.height);
  Scores scores = no_scores();
  scores[psnr] = peak_ratio(static_cast<double>(luma.v.size()), squared_differences(luma_, luma));
  add_similarities(luma_, luma, scores);
  scores[psnr_hvs_m] = peak_ratio(64 * blocks, masked_errors(luma_, luma));
  scores[ssimulacra2] = ssimulacra2_.score(distorted);
  return scores;
}

}  // namespace zerorun::rd
