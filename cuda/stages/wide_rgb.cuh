// Sixteen pixels of a row at once: YCbCr planes -> RGB in registers, for the samplings of nearly
// all streams. A word holds Cb in its lower and Cr in its upper half: the sums of the filters have
// 12 bits at most, so that the functions of arith/resample.hpp work on both halves at once.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/arith/color.hpp"
#include "codec/arith/resample.hpp"
#include "codec/syntax/scan_layout.hpp"
#include "cuda/stages/run_of_words.cuh"

namespace zerorun {

constexpr bool filters_rows(UpsampleFilter f) {
  return f == UpsampleFilter::fancy_1x2 || f == UpsampleFilter::fancy_2x2;
}
/// `repeat` stands for repeating each sample of a row once.
constexpr int pixels_per_sample(UpsampleFilter f) {
  return f == UpsampleFilter::copy || f == UpsampleFilter::fancy_1x2 ? 1 : 2;
}

/// kCount samples from column x on, four in a word. Samples after the last column repeat it;
/// `vectors` says that there are none of them and that the memory is aligned to 8.
template <int kCount>
__device__ void load_samples(const ConstPlaneView& plane, int x, int y, bool vectors,
                             std::uint32_t (&out)[kCount / 4]) {
  static_assert(kCount % 8 == 0);
  const std::uint8_t* const row = plane.data + y * plane.stride_bytes;
  if (vectors) {
#pragma unroll
    for (int i = 0; i < kCount / 8; ++i) {
      const uint2 two = reinterpret_cast<const uint2*>(row + x)[i];
      out[2 * i] = two.x;
      out[2 * i + 1] = two.y;
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    const std::uint32_t sample = row[min(x + i, plane.width - 1)];
    out[i / 4] = (i % 4 == 0 ? 0 : out[i / 4]) | sample << i % 4 * 8;
  }
}

/// Samples of both chroma planes, from the one before `x` to the one after the last.
template <int kCount>
struct ChromaRow {
  std::uint32_t both[kCount + 2];  ///< Cb and Cr

  __device__ ChromaRow(const ConstPlaneView& cb, const ConstPlaneView& cr, int x, int y,
                       bool vectors) {
    std::uint32_t b[kCount / 4], r[kCount / 4];
    load_samples<kCount>(cb, x, y, vectors, b);
    load_samples<kCount>(cr, x, y, vectors, r);
#pragma unroll
    for (int i = 0; i < kCount; ++i)
      both[i + 1] = __byte_perm(b[i / 4], r[i / 4], 0x4400 + 0x1111 * (i % 4)) & 0x00FF00FF;
    const auto at = [&](int column) {
      return cb.data[y * cb.stride_bytes + column] |
             static_cast<std::uint32_t>(cr.data[y * cr.stride_bytes + column]) << 16;
    };
    both[0] = at(max(x - 1, 0));
    both[kCount + 1] = at(min(x + kCount, cb.width - 1));
  }
};

/// Cb and Cr of the sixteen pixels from `x` on in picture row y.
template <UpsampleFilter kFilter>
__device__ void upsample_wide(const ConstPlaneView& cb, const ConstPlaneView& cr, int x, int y,
                              int near_y, bool vectors, std::uint32_t (&out)[kWidePixels]) {
  constexpr int kAcross = pixels_per_sample(kFilter), kCount = kWidePixels / kAcross;
  constexpr bool kDown = filters_rows(kFilter), kSmooth = kFilter != UpsampleFilter::repeat;
  constexpr std::uint32_t kTwice = 0x00010001;
  ChromaRow<kCount> row(cb, cr, x / kAcross, near_y, vectors);
  if constexpr (kDown) {
    const ChromaRow<kCount> far(cb, cr, x / kAcross, further(y, near_y, cb.height), vectors);
#pragma unroll
    for (int i = 0; i < kCount + 2; ++i) row.both[i] = triangle(row.both[i], far.both[i]);
  }
  constexpr int kShift = kFilter == UpsampleFilter::fancy_2x2 ? 4 : 2;
  const auto shifted = [](std::uint32_t sums) { return sums >> kShift & 0x00FF00FF; };
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    const std::uint32_t own = row.both[i + 1];
    if constexpr (kAcross == 2 && kSmooth) {
      constexpr std::uint32_t kEvenBias = kDown ? triangle_2x2_bias(0) : triangle_bias(0);
      constexpr std::uint32_t kOddBias = kDown ? triangle_2x2_bias(1) : triangle_bias(1);
      out[2 * i] = shifted(triangle(own, row.both[i]) + kEvenBias * kTwice);
      out[2 * i + 1] = shifted(triangle(own, row.both[i + 2]) + kOddBias * kTwice);
    } else if constexpr (kAcross == 2) {
      out[2 * i] = out[2 * i + 1] = own;
    } else if constexpr (kDown) {
      out[i] = shifted(own + static_cast<std::uint32_t>(triangle_bias(y)) * kTwice);
    } else {
      out[i] = own;
    }
  }
}

/// Four pixels, a word for each channel.
struct FourRgb {
  std::uint32_t r, g, b;
};

/// The upper halfwords of four numbers, clamped to a byte each.
__device__ inline std::uint32_t clamp_four(const std::int32_t (&x)[4]) {
  const auto two = [&](int i) {
    const std::uint32_t upper =
        __byte_perm(static_cast<std::uint32_t>(x[i]), static_cast<std::uint32_t>(x[i + 1]), 0x7632);
    return __vimin_s16x2_relu(upper, 0x00FF00FF);
  };
  return __byte_perm(two(0), two(2), 0x6420);
}

/// ycc_to_rgb() (arith/color.hpp) of four pixels. It adds y before the shift, which gives the same.
/// Test: ColorUpsampleParity.EveryColour, all 2^24 inputs.
__device__ inline FourRgb to_rgb(std::uint32_t luma, const std::uint32_t* chroma) {
  std::int32_t r[4], g[4], b[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const auto y = static_cast<std::int32_t>((luma >> 8 * i & 0xFF) << kColorBits);
    const auto cb = static_cast<std::int32_t>(chroma[i] & 0xFFFF);
    const auto cr = static_cast<std::int32_t>(chroma[i] >> 16);
    r[i] = y + kCrR * cr + (kColorHalf - 128 * kCrR);
    g[i] = y - kCbG * cb - kCrG * cr + (kColorHalf + 128 * (kCbG + kCrG));
    b[i] = y + kCbB * cb + (kColorHalf - 128 * kCbB);
  }
  return {clamp_four(r), clamp_four(g), clamp_four(b)};
}

/// The bytes of four pixels.
struct PackedPixels {
  bool swapped;  ///< of three bytes: B, G, R
  /// Of four: for each byte R 0, G 1, B 4, or 5 for 255, as __byte_perm() has it.
  std::uint32_t selection;
};

template <int kBytes>
__device__ void pack_four(const PackedPixels& how, FourRgb p, std::uint32_t* out) {
  if constexpr (kBytes == 3) {
    const std::uint32_t first = how.swapped ? p.b : p.r, last = how.swapped ? p.r : p.b;
    out[0] = __byte_perm(__byte_perm(first, p.g, 0x1040), last, 0x3410);
    out[1] = __byte_perm(__byte_perm(first, p.g, 0x6205), last, 0x3250);
    out[2] = __byte_perm(__byte_perm(first, p.g, 0x0730), last, 0x7216);
  } else {
    constexpr std::uint32_t kSpare = 0xFFFFFFFF, kSecond = 0x2222;
    const std::uint32_t rg[] = {__byte_perm(p.r, p.g, 0x5140), __byte_perm(p.r, p.g, 0x7362)};
    const std::uint32_t b[] = {__byte_perm(p.b, kSpare, 0x4140), __byte_perm(p.b, kSpare, 0x4342)};
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      out[2 * i] = __byte_perm(rg[i], b[i], how.selection);
      out[2 * i + 1] = __byte_perm(rg[i], b[i], how.selection + kSecond);
    }
  }
}

}  // namespace zerorun
