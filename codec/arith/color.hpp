// RGB <-> YCbCr of JFIF (BT.601, full range) in 16-bit fixed point, as libjpeg rounds it.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/arith/host_device.hpp"

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

ZR_HD std::uint8_t rgb_to_y(std::int32_t r, std::int32_t g, std::int32_t b) {
  constexpr std::int32_t kR = color_fix(0.29900), kG = color_fix(0.58700), kB = color_fix(0.11400);
  return static_cast<std::uint8_t>((kR * r + kG * g + kB * b + kColorHalf) >> kColorBits);
}

/// Cb and Cr are rounded by "half - 1", so that 255 is the largest result (libjpeg jccolor.c).
ZR_HD Ycc rgb_to_ycc(std::int32_t r, std::int32_t g, std::int32_t b) {
  constexpr std::int32_t kRCb = color_fix(0.16874), kGCb = color_fix(0.33126);
  constexpr std::int32_t kGCr = color_fix(0.41869), kBCr = color_fix(0.08131);
  constexpr std::int32_t kHalf = color_fix(0.50000);
  constexpr std::int32_t kOffset = (128 << kColorBits) + kColorHalf - 1;
  return {rgb_to_y(r, g, b),
          static_cast<std::uint8_t>((kHalf * b - kRCb * r - kGCb * g + kOffset) >> kColorBits),
          static_cast<std::uint8_t>((kHalf * r - kGCr * g - kBCr * b + kOffset) >> kColorBits)};
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

}  // namespace zerorun
