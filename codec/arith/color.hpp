// RGB <-> YCbCr of JFIF (BT.601, full range) in 16-bit fixed point, as libjpeg rounds it; CMYK ->
// RGB; YCbCr of any range, matrix and depth -> that of JFIF with 8 bits.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/arith/host_device.hpp"
#include "zerorun/frame.hpp"

namespace zerorun {

struct Ycc {
  std::uint8_t y, cb, cr;
};
struct Rgb {
  std::uint8_t r, g, b;
};

inline constexpr int kColorBits = 16;
inline constexpr std::int32_t kColorHalf = 1 << (kColorBits - 1);

/// round(x * 2^16)
constexpr std::int32_t color_fix(double x) {
  return static_cast<std::int32_t>(x * (1 << kColorBits) + 0.5);
}

/// What the components of a pixel get before they are rounded down, and then what they lose by it.
struct Carry {
  std::int32_t y, cb, cr;
};

ZR_HD Ycc rgb_to_ycc(std::int32_t r, std::int32_t g, std::int32_t b, Carry& carry) {
  constexpr std::int32_t kRCb = color_fix(0.16874), kGCb = color_fix(0.33126);
  constexpr std::int32_t kGCr = color_fix(0.41869), kBCr = color_fix(0.08131);
  constexpr std::int32_t kHalf = color_fix(0.50000), kMiddle = 128 << kColorBits;
  const auto round = [](std::int32_t sum, std::int32_t& rest) {
    sum += rest;
    rest = sum & ((1 << kColorBits) - 1);
    return static_cast<std::uint8_t>(sum >> kColorBits < 255 ? sum >> kColorBits : 255);
  };
  return {round(color_fix(0.29900) * r + color_fix(0.58700) * g + color_fix(0.11400) * b, carry.y),
          round(kHalf * b - kRCb * r - kGCb * g + kMiddle, carry.cb),
          round(kHalf * r - kGCr * g - kBCr * b + kMiddle, carry.cr)};
}

/// Noise shaping: in each four pixels of a row, what rounding takes from one is given to the next.
/// The errors then lie in high frequencies, where quantisation steps are large: tests/rd/README.md
/// has what it saves.
inline constexpr int kShapedPixels = 4;

/// The carry of the first of four pixels. Rows alternate, so that flat areas get no columns.
/// Without noise shaping it is that of every pixel: Cb and Cr get "half - 1", so that 255 is the
/// largest result (libjpeg jccolor.c).
ZR_HD constexpr Carry first_carry(int row, bool shapes_noise) {
  const std::int32_t shaped = (row % 2 == 0 ? 1 : 3) << (kColorBits - 2);
  return shapes_noise ? Carry{shaped, shaped, shaped}
                      : Carry{kColorHalf, kColorHalf - 1, kColorHalf - 1};
}

ZR_HD Ycc rgb_to_ycc(std::int32_t r, std::int32_t g, std::int32_t b) {
  Carry carry = first_carry(0, false);
  return rgb_to_ycc(r, g, b, carry);
}

ZR_HD std::uint8_t clamp_sample(std::int32_t x) {
  return static_cast<std::uint8_t>(x < 0 ? 0 : x > 255 ? 255 : x);
}

inline constexpr std::int32_t kCrR = color_fix(1.40200), kCbB = color_fix(1.77200);
inline constexpr std::int32_t kCrG = color_fix(0.71414), kCbG = color_fix(0.34414);

ZR_HD Rgb ycc_to_rgb(std::int32_t y, std::int32_t cb, std::int32_t cr) {
  cb -= 128;
  cr -= 128;
  return {clamp_sample(y + ((kCrR * cr + kColorHalf) >> kColorBits)),
          clamp_sample(y + ((-kCbG * cb - kCrG * cr + kColorHalf) >> kColorBits)),
          clamp_sample(y + ((kCbB * cb + kColorHalf) >> kColorBits))};
}

/// round(a * b / 255) for samples a and b.
ZR_HD std::uint8_t scale_sample(std::int32_t a, std::int32_t b) {
  const std::int32_t x = a * b + 128;
  return static_cast<std::uint8_t>((x + (x >> 8)) >> 8);
}

/// Each ink takes light away: R = round(c k / 255) of what C and K leave. The arguments are
/// Adobe's inverted samples, 255 at no ink; plain ones are 255 minus these. The same numbers as
/// those of Pillow, and of libjpeg-turbo's cmyk.h.
ZR_HD Rgb cmyk_to_rgb(std::int32_t c, std::int32_t m, std::int32_t y, std::int32_t k) {
  return {scale_sample(c, k), scale_sample(m, k), scale_sample(y, k)};
}

/// C, M and Y of YCCK, inverted like its K: libjpeg's ycck_cmyk_convert().
ZR_HD Rgb ycc_to_inks(std::int32_t y, std::int32_t cb, std::int32_t cr) {
  const Rgb rgb = ycc_to_rgb(y, cb, cr);
  return {static_cast<std::uint8_t>(255 - rgb.r), static_cast<std::uint8_t>(255 - rgb.g),
          static_cast<std::uint8_t>(255 - rgb.b)};
}

/// The term's value at a sample of up to 16 bits, in 16.16 fixed point. No sum exceeds 32 bits.
ZR_HD constexpr std::int32_t term_of(const SampleTerm& term, std::uint32_t sample) {
  const std::uint32_t carry2 = (term.slope2 * sample + term.offset2) >> 16;
  const std::uint32_t carry1 = (term.slope1 * sample + term.offset1 + carry2) >> 16;
  return term.slope * static_cast<std::int32_t>(sample) + term.offset +
         static_cast<std::int32_t>(carry1);
}

/// A sum in 16.16 fixed point to the nearest sample.
ZR_HD constexpr std::uint8_t sample_of(std::int32_t sum) {
  const std::int32_t rounded = (sum + (1 << 15)) >> 16;
  return static_cast<std::uint8_t>(rounded < 0 ? 0 : rounded > 255 ? 255 : rounded);
}

// libjpeg's chroma filters: boxes for down-sampling (jcsample.c); triangles ("fancy") and
// repetition for up-sampling (jdsample.c).

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
