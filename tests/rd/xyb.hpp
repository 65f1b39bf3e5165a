// The colour space of SSIMULACRA2, and its errors at a pixel.
// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "tests/rd/moments.hpp"
#include "codec/arith/host_device.hpp"

namespace zerorun::rd {

struct Xyb {
  float component[3];
};

inline constexpr float kXybBias = 0.0037930732552754493F;
/// Its cube root, by the host's library: kernels get it as an argument.
inline float xyb_root() { return std::cbrt(kXybBias); }

/// Relative error below 1e-6.
ZR_HD float cube_root(float x) {
  float y = std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) / 3 + 709921077U);
  for (int i = 0; i < 3; ++i) y = (2 * y + x / (y * y)) * (1.0F / 3);
  return y;
}

/// Of linear light, shifted so that all of it is positive.
ZR_HD Xyb xyb_of(float r, float g, float b, float root) {
  const float l = cube_root(0.3F * r + 0.622F * g + 0.078F * b + kXybBias) - root;
  const float m = cube_root(0.23F * r + 0.692F * g + 0.078F * b + kXybBias) - root;
  const float s = cube_root(0.24342268924547819F * r + 0.20476744424496821F * g +
                            (1 - 0.24342268924547819F - 0.20476744424496821F) * b + kXybBias) -
                  root;
  const float y = 0.5F * (l + m);
  return {{14 * 0.5F * (l - m) + 0.42F, y + 0.01F, s - y + 0.55F}};
}

/// A kind of error, added up over pixels.
struct ErrorSums {
  double sum = 0, fourth = 0;

  ZR_HD void add(float x) {
    sum += static_cast<double>(x);
    const double square = static_cast<double>(x) * static_cast<double>(x);
    fourth += square * square;
  }
};

/// Of a component at a scale.
struct FeatureSums {
  ErrorSums structure, artefact, lost;  ///< lost: detail
};

ZR_HD void add_features(const Moments& at, FeatureSums& sums) {
  constexpr float kC2 = 0.0009F;
  const float ma = at.mean_a, mb = at.mean_b;
  const float mean = 1 - (ma - mb) * (ma - mb);
  const float covariance = 2 * (at.both - ma * mb) + kC2;
  const float variance = (at.square_a - ma * ma) + (at.square_b - mb * mb) + kC2;
  const float structure = 1 - mean * covariance / variance;
  const float edge = (1 + std::abs(at.b - mb)) / (1 + std::abs(at.a - ma)) - 1;
  sums.structure.add(structure > 0 ? structure : 0.0F);
  sums.artefact.add(edge > 0 ? edge : 0.0F);
  sums.lost.add(edge < 0 ? -edge : 0.0F);
}

}  // namespace zerorun::rd
