// SSIMULACRA2, written from its description. The blur is a plain Gaussian of 11 taps, where the
// authors use a recursive one: scores differ by less than 0.1.
// SPDX-License-Identifier: MIT
#include <bit>
#include <cmath>
#include <utility>

#include "tests/rd/metrics.hpp"

namespace zerorun::rd {
namespace {

/// For X, Y, B: for each scale and for the mean and the 4-norm: structure, artefacts, lost detail.
/// They are those of its authors (BSD-3-Clause).
// clang-format off
constexpr std::array<double, 108> kWeights{
    0.0, 0.0007376606707406586, 0.0, 0.0, 0.0007793481682867309, 0.0, 0.0, 0.0004371155730107379,
    0.0, 1.1041726426657346, 0.00066284834129271, 0.00015231632783718752, 0.0,
    0.0016406437456599754, 0.0, 1.8422455520539298, 11.441172603757666, 0.0, 0.0007989109436015163,
    0.000176816438078653, 0.0, 1.8787594979546387, 10.94906990605142, 0.0, 0.0007289346991508072,
    0.9677937080626833, 0.0, 0.00014003424285435884, 0.9981766977854967, 0.00031949755934435053,
    0.0004550992113792063, 0.0, 0.0, 0.0013648766163243398, 0.0, 0.0, 0.0, 0.0, 0.0,
    7.466890328078848, 0.0, 17.445833984131262, 0.0006235601634041466, 0.0, 0.0, 6.683678146179332,
    0.00037724407979611296, 1.027889937768264, 225.20515300849274, 0.0, 0.0, 19.213238186143016,
    0.0011401524586618361, 0.001237755635509985, 176.39317598450694, 0.0, 0.0, 24.43300999870476,
    0.28520802612117757, 0.0004485436923833408, 0.0, 0.0, 0.0, 34.77906344483772,
    44.835625328877896, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0008680556573291698, 0.0, 0.0,
    0.0, 0.0, 0.0, 0.0005313191874358747, 0.0, 0.00016533814161379112, 0.0, 0.0, 0.0, 0.0, 0.0,
    0.0004179171803251336, 0.0017290828234722833, 0.0, 0.0020827005846636437, 0.0, 0.0,
    8.826982764996862, 23.19243343998926, 0.0, 95.1080498811086, 0.9863978034400682,
    0.9834382792465353, 0.0012286405048278493, 171.2667255897307, 0.9807858872435379, 0.0, 0.0, 0.0,
    0.0005130064588990679, 0.0, 0.00010854057858411537,
};
// clang-format on

using Planes = std::array<Plane, 3>;

/// Of linear light.
Planes linear_of(const Image& image) {
  std::array<float, 256> linear;
  for (std::size_t i = 0; i < 256; ++i) {
    const double x = static_cast<double>(i) / 255.0;
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
float cube_root(float x) {
  float y = std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) / 3 + 709921077U);
  for (int i = 0; i < 3; ++i) y = (2 * y + x / (y * y)) * (1.0F / 3);
  return y;
}

/// XYB of linear light, shifted so that all of it is positive.
std::array<float, 3> xyb_of(float r, float g, float b) {
  constexpr float kBias = 0.0037930732552754493F;
  static const float root = std::cbrt(kBias);
  const float l = cube_root(0.3F * r + 0.622F * g + 0.078F * b + kBias) - root;
  const float m = cube_root(0.23F * r + 0.692F * g + 0.078F * b + kBias) - root;
  const float s = cube_root(0.24342268924547819F * r + 0.20476744424496821F * g +
                            (1 - 0.24342268924547819F - 0.20476744424496821F) * b + kBias) -
                  root;
  const float y = 0.5F * (l + m);
  return {14 * 0.5F * (l - m) + 0.42F, y + 0.01F, s - y + 0.55F};
}

Planes xyb_planes(const Planes& rgb) {
  Planes out;
  for (Plane& plane : out) plane = Plane(rgb[0].width, rgb[0].height);
  for (std::size_t i = 0; i < rgb[0].v.size(); ++i) {
    const auto pixel = xyb_of(rgb[0].v[i], rgb[1].v[i], rgb[2].v[i]);
    for (std::size_t c = 0; c < 3; ++c) out[c].v[i] = pixel[c];
  }
  return out;
}

/// Calls visit(number, planes in XYB) for each scale.
template <typename Visit>
void for_each_scale(const Image& image, const Visit& visit) {
  const std::vector<Size> sizes = ssimulacra2_scales({image.width, image.height});
  Planes linear = linear_of(image);
  for (std::size_t scale = 0; scale < sizes.size(); ++scale) {
    if (scale > 0)
      for (Plane& plane : linear) plane = halved(plane, sizes[scale]);
    visit(scale, xyb_planes(linear));
  }
}

/// A kind of error, added up over pixels.
struct ErrorSums {
  double sum = 0, fourth = 0;

  void add(float x) {
    sum += static_cast<double>(x);
    const double square = static_cast<double>(x) * static_cast<double>(x);
    fourth += square * square;
  }
};

/// Structure, artefacts and lost detail of a component at a scale.
class FeatureSums {
 public:
  void add(const Moments& at) {
    constexpr float kC2 = 0.0009F;
    const float ma = at.mean_a, mb = at.mean_b;
    const float mean = 1 - (ma - mb) * (ma - mb);
    const float covariance = 2 * (at.both - ma * mb) + kC2;
    const float variance = (at.square_a - ma * ma) + (at.square_b - mb * mb) + kC2;
    const float structure = 1 - mean * covariance / variance;
    const float edge = (1 + std::abs(at.b - mb)) / (1 + std::abs(at.a - ma)) - 1;
    kinds_[0].add(structure > 0 ? structure : 0.0F);
    kinds_[1].add(edge > 0 ? edge : 0.0F);
    kinds_[2].add(edge < 0 ? -edge : 0.0F);
  }

  /// The means of the three kinds and their 4-norms, each times its weight.
  double weighted(const double* weights, double count) const {
    double sum = 0;
    for (std::size_t i = 0; i < 3; ++i) sum += weights[i] * (kinds_[i].sum / count);
    for (std::size_t i = 0; i < 3; ++i)
      sum += weights[3 + i] * std::pow(kinds_[i].fourth / count, 0.25);
    return sum;
  }

 private:
  std::array<ErrorSums, 3> kinds_;
};

double to_score(double sum) {
  sum *= 0.9562382616834844;
  sum = 2.326765642916932 * sum - 0.020884521182843837 * sum * sum +
        6.248496625763138e-05 * sum * sum * sum;
  return sum > 0 ? 100.0 - 10.0 * std::pow(sum, 0.6276336467831387) : 100.0;
}

}  // namespace

std::vector<Size> ssimulacra2_scales(Size size) {
  constexpr int kLeast = 8;
  std::vector<Size> sizes;
  while (sizes.size() < kSsimulacra2Scales && size.width >= kLeast && size.height >= kLeast) {
    sizes.push_back(size);
    size = {(size.width + 1) / 2, (size.height + 1) / 2};
  }
  return sizes;
}

Ssimulacra2::Ssimulacra2(const Image& original) {
  for_each_scale(original, [&](std::size_t, Planes xyb) {
    Scale& scale = scales_.emplace_back();
    for (std::size_t c = 0; c < 3; ++c) {
      scale.mean[c] = blur(xyb[c]);
      scale.square[c] = blur(product(xyb[c], xyb[c]));
      scale.xyb[c] = std::move(xyb[c]);
    }
  });
}

double Ssimulacra2::score(const Image& distorted) const {
  double sum = 0;
  for_each_scale(distorted, [&](std::size_t number, const Planes& xyb) {
    const Scale& scale = scales_[number];
    for (std::size_t c = 0; c < 3; ++c) {
      const Plane &a = scale.xyb[c], &b = xyb[c];
      const Plane mean = blur(b), square = blur(product(b, b)), both = blur(product(a, b));
      FeatureSums features;
      for (std::size_t i = 0; i < a.v.size(); ++i)
        features.add({a.v[i], b.v[i], scale.mean[c].v[i], mean.v[i], scale.square[c].v[i],
                      square.v[i], both.v[i]});
      sum += features.weighted(kWeights.data() + 6 * (c * scales_.size() + number),
                               static_cast<double>(a.v.size()));
    }
  });
  return to_score(sum);
}

}  // namespace zerorun::rd
