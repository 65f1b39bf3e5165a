// libjpeg's chroma filters: boxes for down-sampling (jcsample.c); triangles ("fancy") and
// repetition for up-sampling (jdsample.c).
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/arith/host_device.hpp"

namespace zerorun {

/// Mean of a box of h x v samples, h * v being 1, 2 or 4, for output column x. Boxes of 2x1 and 2x2
/// alternate their bias from column to column, the others round half up. Samples that are all equal
/// give just that sample.
ZR_HD constexpr std::uint8_t box_mean(std::int32_t sum, int h, int v, int x) {
  const int bias = h == 2 ? v - 1 + (x & 1) : h * v / 2;
  return static_cast<std::uint8_t>((sum + bias) >> h * v / 2);  // 1, 2, 4 -> log2 = 0, 1, 2
}

/// A chroma sample that makes up for what it loses: fancy_2x2 of a decoder and then box_mean() blur
/// it with the weights 1, 6, 1 of 8 in both directions. What they take from `c` is added to it.
/// `sum` is that of `c` and its neighbours with these weights, times 64.
ZR_HD constexpr std::uint8_t fitted_chroma(std::int32_t c, std::int32_t sum) {
  const std::int32_t fitted = (128 * c - sum + 32) >> 6;
  return static_cast<std::uint8_t>(fitted < 0 ? 0 : fitted > 255 ? 255 : fitted);
}

/// How a component is enlarged to the size of the picture.
enum class UpsampleFilter : std::uint8_t { copy, fancy_2x1, fancy_1x2, fancy_2x2, repeat };

/// libjpeg's choice (jinit_upsampler). `width` is the component's, `fancy` what the caller wants.
constexpr UpsampleFilter choose_filter(int h, int v, int h_max, int v_max, int width, bool fancy) {
  if (h == h_max && v == v_max) return UpsampleFilter::copy;
  if (!fancy) return UpsampleFilter::repeat;
  if (h == h_max && 2 * v == v_max) return UpsampleFilter::fancy_1x2;
  if (2 * h == h_max && width > 2) {
    if (v == v_max) return UpsampleFilter::fancy_2x1;
    if (2 * v == v_max) return UpsampleFilter::fancy_2x2;
  }
  return UpsampleFilter::repeat;
}

/// Row or column of the component that lies at row or column `at` of the picture.
ZR_HD constexpr int nearer(int at, int factor, int max_factor) { return at * factor / max_factor; }

/// The one of `count` rows or columns on the other side of `at`; at the edge `near` itself.
ZR_HD constexpr int further(int at, int near, int count) {
  if (at % 2 == 0) return near > 0 ? near - 1 : 0;
  return near + 1 < count ? near + 1 : count - 1;
}

/// One direction of the triangle filter, before rounding: 3/4 of the nearer, 1/4 of the further
/// sample. fancy_2x1 and fancy_1x2 are (sum + triangle_bias(x or y)) >> 2. fancy_2x2 takes sums of
/// both directions: (sum + triangle_2x2_bias(x)) >> 4.
template <typename T>
ZR_HD constexpr T triangle(T near, T far) {
  return near * 3 + far;
}
ZR_HD constexpr int triangle_bias(int at) { return 1 + (at & 1); }
ZR_HD constexpr int triangle_2x2_bias(int x) { return 8 - (x & 1); }

}  // namespace zerorun
