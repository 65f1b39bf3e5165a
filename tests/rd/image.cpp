// Pictures of the rate-distortion harness.
// SPDX-License-Identifier: MIT
#include "tests/rd/image.hpp"

#include <algorithm>
#include <cmath>

#include "tests/rd/pixel_rules.hpp"

namespace zerorun::rd {

Plane luma_of(const Image& image) {
  Plane out(image.width, image.height);
  for (std::size_t i = 0; i < out.v.size(); ++i)
    out.v[i] = luma_of(image.rgb[3 * i], image.rgb[3 * i + 1], image.rgb[3 * i + 2]);
  return out;
}

BlurTaps blur_taps() {
  constexpr float kSigma = 1.5F;
  BlurTaps taps;
  float sum = 0;
  for (int i = -kBlurRadius; i <= kBlurRadius; ++i) {
    float& tap = taps.tap[i + kBlurRadius];
    tap = std::exp(-static_cast<float>(i * i) / (2 * kSigma * kSigma));
    sum += tap;
  }
  for (float& tap : taps.tap) tap /= sum;
  return taps;
}

namespace {

void blur_row(const float* in, int width, const BlurTaps& taps, std::vector<float>& wide,
              float* out) {
  std::copy_n(in, width, wide.begin() + kBlurRadius);
  std::fill_n(out, width, 0.0F);
  for (int t = 0; t < kBlurTaps; ++t) {
    const float tap = taps.tap[t];
    const float* from = wide.data() + t;
    for (int x = 0; x < width; ++x) out[x] += tap * from[x];
  }
}

}  // namespace

Plane blur(const Plane& in, const BlurTaps& taps) {
  Plane rows(in.width, in.height), out(in.width, in.height);
  std::vector<float> wide(static_cast<std::size_t>(in.width) + kBlurTaps);
  for (int y = 0; y < in.height; ++y) blur_row(in.row(y), in.width, taps, wide, rows.row(y));
  for (int y = 0; y < in.height; ++y) {
    float* to = out.row(y);
    for (int t = std::max(-kBlurRadius, -y); t <= std::min(kBlurRadius, in.height - 1 - y); ++t) {
      const float tap = taps.tap[t + kBlurRadius];
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
  for (int y = 0; y < out.height; ++y)
    for (int x = 0; x < out.width; ++x)
      out.row(y)[x] = halved_at(in.v.data(), in.width, in.height, x, y);
  return out;
}

}  // namespace zerorun::rd
