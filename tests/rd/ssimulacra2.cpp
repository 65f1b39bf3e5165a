// SSIMULACRA2, written from its description. The blur is a plain Gaussian of 11 taps, where the
// authors use a recursive one: scores differ by less than 0.1.
// SPDX-License-Identifier: MIT
#include "tests/rd/ssimulacra2.hpp"

#include <cmath>

#include "tests/rd/pixel_rules.hpp"

namespace zerorun::rd {
namespace {

using Planes = std::array<Plane, 3>;

Planes linear_of(const Image& image) {
  const LinearTable linear = linear_table();
  Planes out;
  for (std::size_t c = 0; c < 3; ++c) {
    out[c] = Plane(image.width, image.height);
    for (std::size_t i = 0; i < image.pixels(); ++i)
      out[c].v[i] = linear.value[image.rgb[3 * i + c]];
  }
  return out;
}

Planes xyb_planes(const Planes& rgb) {
  const float root = xyb_root();
  Planes out;
  for (Plane& plane : out) plane = Plane(rgb[0].width, rgb[0].height);
  for (std::size_t i = 0; i < rgb[0].v.size(); ++i) {
    const Xyb pixel = xyb_of(rgb[0].v[i], rgb[1].v[i], rgb[2].v[i], root);
    for (std::size_t c = 0; c < 3; ++c) out[c].v[i] = pixel.component[c];
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

}  // namespace

LinearTable linear_table() {
  LinearTable table;
  for (int i = 0; i < 256; ++i) {
    const double x = i / 255.0;
    table.value[i] =
        static_cast<float>(x <= 0.04045 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4));
  }
  return table;
}

Ssimulacra2::Ssimulacra2(const Image& original) {
  const BlurTaps taps = blur_taps();
  for_each_scale(original, [&](std::size_t, Planes xyb) {
    Scale& scale = scales_.emplace_back();
    for (std::size_t c = 0; c < 3; ++c) {
      scale.mean[c] = blur(xyb[c], taps);
      scale.square[c] = blur(product(xyb[c], xyb[c]), taps);
      scale.xyb[c] = std::move(xyb[c]);
    }
  });
}

void Ssimulacra2::add(const Image& distorted, ScoreSums& sums) const {
  const BlurTaps taps = blur_taps();
  for_each_scale(distorted, [&](std::size_t number, const Planes& xyb) {
    const Scale& scale = scales_[number];
    for (std::size_t c = 0; c < 3; ++c) {
      const Plane &a = scale.xyb[c], &b = xyb[c];
      const Plane mean = blur(b, taps);
      const Plane square = blur(product(b, b), taps);
      const Plane both = blur(product(a, b), taps);
      for (std::size_t i = 0; i < a.v.size(); ++i)
        add_features({a.v[i], b.v[i], scale.mean[c].v[i], mean.v[i], scale.square[c].v[i],
                      square.v[i], both.v[i]},
                     sums.features[number][c]);
    }
  });
}

}  // namespace zerorun::rd
