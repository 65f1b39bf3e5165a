// SSIMULACRA2, written from its description; the weights are those of its authors (BSD-3-Clause).
// The blur is a plain Gaussian of 11 taps, where the authors use a recursive one: scores differ by
// less than 0.1.
// SPDX-License-Identifier: MIT
#include "apps/bench/quality/ssimulacra2.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace zerorun::rd {
namespace {

constexpr int kScales = 6;
constexpr int kSmallest = 8;  // pixels of a side

/// For X, Y, B: for each scale and for the mean and the 4-norm: structure, artefacts, lost detail.
constexpr std::array<double, 108> kWeights{
    0.0,
    0.0007376606707406586,
    0.0,
    0.0,
    0.0007793481682867309,
    0.0,
    0.0,
    0.0004371155730107379,
    0.0,
    1.1041726426657346,
    0.00066284834129271,
    0.00015231632783718752,
    0.0,
    0.0016406437456599754,
    0.0,
    1.8422455520539298,
    11.441172603757666,
    0.0,
    0.0007989109436015163,
    0.000176816438078653,
    0.0,
    1.8787594979546387,
    10.94906990605142,
    0.0,
    0.0007289346991508072,
    0.9677937080626833,
    0.0,
    0.00014003424285435884,
    0.9981766977854967,
    0.00031949755934435053,
    0.0004550992113792063,
    0.0,
    0.0,
    0.0013648766163243398,
    0.0,
    0.0,
    0.0,
    0.0,
    0.0,
    7.466890328078848,
    0.0,
    17.445833984131262,
    0.0006235601634041466,
    0.0,
    0.0,
    6.683678146179332,
    0.00037724407979611296,
    1.027889937768264,
    225.20515300849274,
    0.0,
    0.0,
    19.213238186143016,
    0.0011401524586618361,
    0.001237755635509985,
    176.39317598450694,
    0.0,
    0.0,
    24.43300999870476,
    0.28520802612117757,
    0.0004485436923833408,
    0.0,
    0.0,
    0.0,
    34.77906344483772,
    44.835625328877896,
    0.0,
    0.0,
    0.0,
    0.0,
    0.0,
    0.0,
    0.0,
    0.0,
    0.0008680556573291698,
    0.0,
    0.0,
    0.0,
    0.0,
    0.0,
    0.0005313191874358747,
    0.0,
    0.00016533814161379112,
    0.0,
    0.0,
    0.0,
    0.0,
    0.0,
    0.0004179171803251336,
    0.0017290828234722833,
    0.0,
    0.0020827005846636437,
    0.0,
    0.0,
    8.826982764996862,
    23.19243343998926,
    0.0,
    95.1080498811086,
    0.9863978034400682,
    0.9834382792465353,
    0.0012286405048278493,
    171.2667255897307,
    0.9807858872435379,
    0.0,
    0.0,
    0.0,
    0.0005130064588990679,
    0.0,
    0.00010854057858411537,
};

using Planes = std::array<Plane, 3>;

Planes linear_of(const Image& image) {
  std::array<float, 256> linear;
  for (std::size_t i = 0; i < linear.size(); ++i) {
    const double x = static_cast<double>(i) / 255;
    linear[i] = static_cast<float>(x <= 0.04045 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4));
  }
  Planes out;
  for (std::size_t c = 0; c < 3; ++c) {
    out[c] = Plane(image.width, image.height);
    for (std::size_t i = 0; i < image.pixels(); ++i) out[c].v[i] = linear[image.rgb[3 * i + c]];
  }
  return out;
}

/// Relative error below 1e-6.
inline float cube_root(float x) {
  float y = std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) / 3 + 709921077U);
  for (int i = 0; i < 3; ++i) y = (2 * y + x / (y * y)) * (1.0F / 3);
  return y;
}

/// XYB, shifted so that all of it is positive.
Planes xyb_of(const Planes& rgb) {
  constexpr float kBias = 0.0037930732552754493F;
  const float root = std::cbrt(kBias);
  Planes out = {Plane(rgb[0].width, rgb[0].height), Plane(rgb[0].width, rgb[0].height),
                Plane(rgb[0].width, rgb[0].height)};
  for (std::size_t i = 0; i < rgb[0].v.size(); ++i) {
    const float r = rgb[0].v[i], g = rgb[1].v[i], b = rgb[2].v[i];
    const float l = cube_root(0.3F * r + 0.622F * g + 0.078F * b + kBias) - root;
    const float m = cube_root(0.23F * r + 0.692F * g + 0.078F * b + kBias) - root;
    const float s = cube_root(0.24342268924547819F * r + 0.20476744424496821F * g +
                              (1 - 0.24342268924547819F - 0.20476744424496821F) * b + kBias) -
                    root;
    const float y = 0.5F * (l + m);
    out[0].v[i] = 14 * 0.5F * (l - m) + 0.42F;
    out[1].v[i] = y + 0.01F;
    out[2].v[i] = s - y + 0.55F;
  }
  return out;
}

/// Means of 2x2 pixels; the last row and column are repeated.
Plane halved(const Plane& in) {
  Plane out((in.width + 1) / 2, (in.height + 1) / 2);
  for (int y = 0; y < out.height; ++y) {
    const float* a = in.row(2 * y);
    const float* b = in.row(std::min(2 * y + 1, in.height - 1));
    for (int x = 0; x < out.width; ++x) {
      const int second = std::min(2 * x + 1, in.width - 1);
      out.row(y)[x] = 0.25F * (a[2 * x] + a[second] + b[2 * x] + b[second]);
    }
  }
  return out;
}

Plane product(const Plane& a, const Plane& b) {
  Plane out(a.width, a.height);
  for (std::size_t i = 0; i < a.v.size(); ++i) out.v[i] = a.v[i] * b.v[i];
  return out;
}

/// Mean and 4-norm.
struct Norms {
  double sum = 0, fourth = 0;
  void add(float x) {
    sum += static_cast<double>(x);
    const double square = static_cast<double>(x) * static_cast<double>(x);
    fourth += square * square;
  }
  std::array<double, 2> of(std::size_t n) const {
    const auto count = static_cast<double>(n);
    return {sum / count, std::pow(fourth / count, 0.25)};
  }
};

/// The six features of a component at a scale: [norm][structure, artefacts, lost detail].
using Features = std::array<std::array<double, 3>, 2>;

struct Statistics {
  const Plane &a, &b, &mean_a, &mean_b, &square_a, &square_b, &both;
};

Features features(const Statistics& s) {
  constexpr float kC2 = 0.0009F;
  Norms structure, artefact, lost;
  for (std::size_t i = 0; i < s.a.v.size(); ++i) {
    const float ma = s.mean_a.v[i], mb = s.mean_b.v[i];
    const float mean = 1 - (ma - mb) * (ma - mb);
    const float covariance = 2 * (s.both.v[i] - ma * mb) + kC2;
    const float variance = (s.square_a.v[i] - ma * ma) + (s.square_b.v[i] - mb * mb) + kC2;
    structure.add(std::max(0.0F, 1 - mean * covariance / variance));
    const float edge = (1 + std::abs(s.b.v[i] - mb)) / (1 + std::abs(s.a.v[i] - ma)) - 1;
    artefact.add(std::max(edge, 0.0F));
    lost.add(std::max(-edge, 0.0F));
  }
  const std::size_t n = s.a.v.size();
  Features out;
  for (std::size_t norm = 0; norm < 2; ++norm)
    out[norm] = {structure.of(n)[norm], artefact.of(n)[norm], lost.of(n)[norm]};
  return out;
}

const std::vector<float>& taps() {
  static const std::vector<float> kTaps = gaussian(1.5F, 5);
  return kTaps;
}

/// Calls visit(planes in XYB) for each scale.
template <typename Visit>
void for_each_scale(const Image& image, const Visit& visit) {
  Planes linear = linear_of(image);
  for (int scale = 0; scale < kScales; ++scale) {
    if (scale > 0)
      for (Plane& plane : linear) plane = halved(plane);
    if (linear[0].width < kSmallest || linear[0].height < kSmallest) return;
    visit(static_cast<std::size_t>(scale), xyb_of(linear));
  }
}

double to_score(double sum) {
  sum *= 0.9562382616834844;
  sum = 2.326765642916932 * sum - 0.020884521182843837 * sum * sum +
        6.248496625763138e-05 * sum * sum * sum;
  return sum > 0 ? 100.0 - 10.0 * std::pow(sum, 0.6276336467831387) : 100.0;
}

}  // namespace

Ssimulacra2::Ssimulacra2(const Image& original) {
  for_each_scale(original, [&](std::size_t, Planes xyb) {
    Scale& scale = scales_.emplace_back();
    for (std::size_t c = 0; c < 3; ++c) {
      scale.mean[c] = blur(xyb[c], taps());
      scale.square[c] = blur(product(xyb[c], xyb[c]), taps());
      scale.xyb[c] = std::move(xyb[c]);
    }
  });
}

double Ssimulacra2::score(const Image& distorted) const {
  double sum = 0;
  const std::size_t scales = scales_.size();
  for_each_scale(distorted, [&](std::size_t number, const Planes& xyb) {
    const Scale& scale = scales_[number];
    for (std::size_t c = 0; c < 3; ++c) {
      const Plane mean = blur(xyb[c], taps());
      const Plane square = blur(product(xyb[c], xyb[c]), taps());
      const Plane both = blur(product(scale.xyb[c], xyb[c]), taps());
      const Features found =
          features({scale.xyb[c], xyb[c], scale.mean[c], mean, scale.square[c], square, both});
      for (std::size_t norm = 0; norm < 2; ++norm)
        for (std::size_t i = 0; i < 3; ++i)
          sum += kWeights[((c * scales + number) * 2 + norm) * 3 + i] * found[norm][i];
    }
  });
  return to_score(sum);
}

}  // namespace zerorun::rd
