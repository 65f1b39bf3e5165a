// Sixteen packed pixels of a row at once: RGB in registers -> Y, and Cb and Cr of boxes of them. A
// word holds Cb in its lower and Cr in its upper half: box_mean() of arith/resample.hpp for both.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/arith/color.hpp"
#include "codec/arith/resample.hpp"
#include "codec/base/pixel_rows.hpp"
#include "cuda/stages/run_of_words.cuh"

namespace zerorun {

/// Factors of the bytes of a pixel in 16.16 fixed point: those of bytes 0 and 1 in `low`, of 2 and
/// 3 in `high`, the first in the lower half. Those of Cb and Cr are negative, because -32768 has 16
/// bits and 32768 has not.
struct PixelFactors {
  std::uint32_t low, high;
};
struct YccFactors {
  PixelFactors y, cb, cr;
};

inline YccFactors factors_of(const RgbOrder& order) {
  constexpr std::int32_t kHalf = color_fix(0.50000);
  const auto place = [&order](std::int32_t r, std::int32_t g, std::int32_t b) {
    std::uint32_t factor[4] = {};
    factor[order.r] = static_cast<std::uint16_t>(r);
    factor[order.g] = static_cast<std::uint16_t>(g);
    factor[order.b] = static_cast<std::uint16_t>(b);
    return PixelFactors{factor[0] | factor[1] << 16, factor[2] | factor[3] << 16};
  };
  return {place(color_fix(0.29900), color_fix(0.58700), color_fix(0.11400)),
          place(color_fix(0.16874), color_fix(0.33126), -kHalf),
          place(-kHalf, color_fix(0.41869), color_fix(0.08131))};
}

/// sum + the lower (upper) two bytes of `bytes` times both halves of `factors`, which are unsigned
/// for Y and signed for Cb and Cr.
template <bool kSigned, bool kUpper>
__device__ std::uint32_t add_products(std::uint32_t factors, std::uint32_t bytes,
                                      std::uint32_t sum) {
  std::uint32_t out;
  if constexpr (kSigned && kUpper)
    asm("dp2a.hi.s32.u32 %0, %1, %2, %3;" : "=r"(out) : "r"(factors), "r"(bytes), "r"(sum));
  else if constexpr (kSigned)
    asm("dp2a.lo.s32.u32 %0, %1, %2, %3;" : "=r"(out) : "r"(factors), "r"(bytes), "r"(sum));
  else if constexpr (kUpper)
    asm("dp2a.hi.u32.u32 %0, %1, %2, %3;" : "=r"(out) : "r"(factors), "r"(bytes), "r"(sum));
  else
    asm("dp2a.lo.u32.u32 %0, %1, %2, %3;" : "=r"(out) : "r"(factors), "r"(bytes), "r"(sum));
  return out;
}

/// The factors times a pixel's four bytes.
template <bool kSigned>
__device__ std::uint32_t sum_of_products(const PixelFactors& factors, std::uint32_t pixel,
                                         std::uint32_t sum) {
  return add_products<kSigned, true>(factors.high, pixel,
                                     add_products<kSigned, false>(factors.low, pixel, sum));
}

/// Pixel i of a lane's words, in the lower three bytes or in all four. What the factors of a fourth
/// byte are 0 for may be anything.
template <int kBytes>
__device__ std::uint32_t pixel_of(const std::uint32_t (&words)[kWidePixels * kBytes / 4], int i) {
  if constexpr (kBytes == 4) return words[i];
  const int at = 3 * i, word = at / 4, shift = at % 4;
  if (shift <= 1) return words[word] >> 8 * shift;
  return __funnelshift_r(words[word], words[word + 1], static_cast<unsigned>(8 * shift));
}

// These equal rgb_to_ycc() (arith/color.hpp). Test: ColorSubsampleParity.EveryColour, all 2^24
// inputs.

/// Y of a pixel in bits 16 to 23; above them 0.
__device__ inline std::uint32_t y_of(const YccFactors& f, std::uint32_t pixel) {
  return sum_of_products<false>(f.y, pixel, kColorHalf);
}
/// Cb and Cr of a pixel, in both halves of a word.
__device__ inline std::uint32_t chroma_of(const YccFactors& f, std::uint32_t pixel) {
  constexpr std::uint32_t kOffset = (128u << kColorBits) + kColorHalf - 1;
  // Minus the sums less one is their complement: kOffset - s = ~(s - kOffset - 1).
  const std::uint32_t cb = ~sum_of_products<true>(f.cb, pixel, 0u - kOffset - 1);
  const std::uint32_t cr = ~sum_of_products<true>(f.cr, pixel, 0u - kOffset - 1);
  return __byte_perm(cb, cr, 0x7632);
}

/// Bytes 2 of four words.
__device__ inline std::uint32_t third_bytes(std::uint32_t a, std::uint32_t b, std::uint32_t c,
                                            std::uint32_t d) {
  return __byte_perm(__byte_perm(a, b, 0x0062), __byte_perm(c, d, 0x0062), 0x5410);
}
/// The lower (upper) halves of four words, a byte each.
__device__ inline std::uint32_t lower_bytes(const std::uint32_t* words) {
  return __byte_perm(__byte_perm(words[0], words[1], 0x0040),
                     __byte_perm(words[2], words[3], 0x0040), 0x5410);
}
__device__ inline std::uint32_t upper_bytes(const std::uint32_t* words) {
  return third_bytes(words[0], words[1], words[2], words[3]);
}

/// A row of a lane's pixels: Y, and the sums of Cb and of Cr over kH neighbours, which are added to
/// `chroma`.
template <int kBytes, int kH>
__device__ void convert_row(const YccFactors& f,
                            const std::uint32_t (&words)[kWidePixels * kBytes / 4],
                            std::uint32_t (&luma)[kWidePixels / 4],
                            std::uint32_t (&chroma)[kWidePixels / kH]) {
  std::uint32_t y[4];
#pragma unroll
  for (int i = 0; i < kWidePixels; ++i) {
    const std::uint32_t pixel = pixel_of<kBytes>(words, i);
    y[i % 4] = y_of(f, pixel);
    chroma[i / kH] += chroma_of(f, pixel);
    if (i % 4 == 3) luma[i / 4] = third_bytes(y[0], y[1], y[2], y[3]);
  }
}

/// box_mean() of both halves.
template <int kH, int kV>
__device__ std::uint32_t both_means(std::uint32_t sums, int x) {
  constexpr std::uint32_t kTwice = 0x00010001;
  const auto bias = static_cast<std::uint32_t>(kH == 2 ? kV - 1 + (x & 1) : kH * kV / 2);
  return (sums + bias * kTwice) >> kH * kV / 2 & 0x00FF00FF;
}

}  // namespace zerorun
