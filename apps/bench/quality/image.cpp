// Pictures of the rate-distortion harness.
// SPDX-License-Identifier: MIT
#include "apps/bench/quality/image.hpp"

#include <algorithm>
#include <cmath>

namespace zerorun::rd {

Plane luma_of(const Image& image) {
  Plane out(image.width, image.height);
  for (std::size_t i = 0; i < out.v.size(); ++i)
    out.v[i] = 0.299F * static_cast<float>(image.rgb[3 * i]) +
               0.587F * static_cast<float>(image.rgb[3 * i + 1]) +
               0.114F * static_cast<float>(image.rgb[3 * i + 2]);
  return out;
}

std::vector<float> gaussian(float sigma, int radius) {
  std::vector<float> taps;
  float sum = 0;
  for (int i = -radius; i <= radius; ++i) {
    taps.push_back(std::exp(-static_cast<float>(i * i) / (2 * sigma * sigma)));
    sum += taps.back();
  }
  for (float& tap : taps) tap /= sum;
  return taps;
}

namespace {

void blur_row(const float* in, int width, const std::vector<float>& taps, std::vector<float>& wide,
              float* out) {
  const std::size_t radius = taps.size() / 2;
  std::copy_n(in, width, wide.begin() + static_cast<std::ptrdiff_t>(radius));
  std::fill_n(out, width, 0.0F);
  for (std::size_t t = 0; t < taps.size(); ++t) {
    const float tap = taps[t];
    const float* from = wide.data() + t;
    for (int x = 0; x < width; ++x) out[x] += tap * from[x];
  }
}

}  // namespace

Plane blur(const Plane& in, const std::vector<float>& taps) {
  const int radius = static_cast<int>(taps.size() / 2);
  Plane rows(in.width, in.height), out(in.width, in.height);
  std::vector<float> wide(static_cast<std::size_t>(in.width) + taps.size());
  for (int y = 0; y < in.height; ++y) blur_row(in.row(y), in.width, taps, wide, rows.row(y));
  for (int y = 0; y < in.height; ++y) {
    float* to = out.row(y);
    for (int t = std::max(-radius, -y); t <= std::min(radius, in.height - 1 - y); ++t) {
      const float tap = taps[static_cast<std::size_t>(t + radius)];
      const float* from = rows.row(y + t);
      for (int x = 0; x < in.width; ++x) to[x] += tap * from[x];
    }
  }
  return out;
}

}  // namespace zerorun::rd
