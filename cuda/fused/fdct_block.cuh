// The forward transform of a whole block in the registers of one thread: the same integers as
// codec/arith/dct8.hpp. Rows in single precision, columns in integers, so that both pipes of a
// processor are busy.
//
// Pass 1 is exact in floats: every sum and product is an integer below 2^24, and descaling rounds
// once, downwards, half a step having been added before.
// SPDX-License-Identifier: MIT
#pragma once

#include "codec/arith/dct8.hpp"
#include "cuda/fused/float_quant.hpp"

namespace zerorun::fused {

/// Sample `i` of four as the float 2^15 + sample: the byte goes into the mantissa.
__device__ inline float biased_sample(std::uint32_t four, int i) {
  return __uint_as_float(__byte_perm(four, 0x47000000u, 0x7604 | i << 4));
}
constexpr float kSampleBias = 32768.0f;

/// fdct8<1> of eight samples. out[k] = kFloatMagicBits + frequency k.
__device__ inline void fdct_row(uint2 samples, std::uint32_t (&out)[8]) {
  float x[8];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    x[i] = biased_sample(samples.x, i);
    x[4 + i] = biased_sample(samples.y, i);
  }
  const float s0 = x[0] + x[7], s1 = x[1] + x[6], s2 = x[2] + x[5], s3 = x[3] + x[4];
  const float d0 = x[0] - x[7], d1 = x[1] - x[6], d2 = x[2] - x[5], d3 = x[3] - x[4];
  const float even0 = s0 + s3, even1 = s1 + s2, even2 = s1 - s2, even3 = s0 - s3;
  constexpr float kScale = 1 << kPass1Bits;
  constexpr float kHalf = 1 << (kConstBits - kPass1Bits - 1);
  constexpr float kStep = 1.0f / (1 << (kConstBits - kPass1Bits));
  // The level shift (T.81 A.3.1) changes frequency 0 alone.
  constexpr float kOffset = kFloatMagic - 8 * kScale * (kSampleBias + 128);
  const auto whole = [](float v) { return __float_as_uint(v); };
  const auto down = [&](float v) { return whole(__fmaf_rd(v, kStep, kFloatMagic)); };
  out[0] = whole(__fmaf_rn(even0 + even1, kScale, kOffset));
  out[4] = whole(__fmaf_rn(even0 - even1, kScale, kFloatMagic));
  const float z1 = __fmaf_rn(even2 + even3, kFix0_541196100, kHalf);
  out[2] = down(__fmaf_rn(even3, kFix0_765366865, z1));
  out[6] = down(__fmaf_rn(even2, -static_cast<float>(kFix1_847759065), z1));

  // rotate_odd() with a = d3, b = d2, c = d1, d = d0.
  const float ac = d3 + d1, bd = d2 + d0, ad = d3 + d0, bc = d2 + d1;
  const float z5 = __fmaf_rn(ac + bd, kFix1_175875602, kHalf);
  const float r1 = ad * -static_cast<float>(kFix0_899976223);
  const float r2 = bc * -static_cast<float>(kFix2_562915447);
  const float r3 = __fmaf_rn(ac, -static_cast<float>(kFix1_961570560), z5);
  const float r4 = __fmaf_rn(bd, -static_cast<float>(kFix0_390180644), z5);
  out[7] = down(__fmaf_rn(d3, kFix0_298631336, r1) + r3);
  out[5] = down(__fmaf_rn(d2, kFix2_053119869, r2) + r4);
  out[3] = down(__fmaf_rn(d1, kFix3_072711026, r2) + r3);
  out[1] = down(__fmaf_rn(d0, kFix1_501321110, r1) + r4);
}

/// fdct8<2> of a column of pass 1, in place: v[k] = kFloatMagicBits + result. Eight biases add up
/// to a constant in frequency 0 and cancel in all others.
__device__ inline void fdct_column(std::uint32_t (&v)[8]) {
  constexpr int kShift = kConstBits + kPass1Bits;
  constexpr std::uint32_t kHalf = 1u << (kShift - 1);
  const auto down = [](std::uint32_t x, int shift) {
    return kFloatMagicBits + shift_right_signed(x, shift);
  };
  const std::uint32_t s0 = v[0] + v[7], s1 = v[1] + v[6], s2 = v[2] + v[5], s3 = v[3] + v[4];
  std::uint32_t d0 = v[0] - v[7], d1 = v[1] - v[6], d2 = v[2] - v[5], d3 = v[3] - v[4];
  const std::uint32_t even0 = s0 + s3, even1 = s1 + s2, even2 = s1 - s2, even3 = s0 - s3;
  constexpr std::uint32_t kRound = 1u << (kPass1Bits - 1);
  v[0] = down(even0 + even1 + (kRound - 8 * kFloatMagicBits), kPass1Bits);
  v[4] = down(even0 - even1 + kRound, kPass1Bits);
  const std::uint32_t z1 = (even2 + even3) * kFix0_541196100 + kHalf;
  v[2] = down(z1 + even3 * kFix0_765366865, kShift);
  v[6] = down(z1 - even2 * kFix1_847759065, kShift);

  const std::uint32_t z5 = (d3 + d1 + d2 + d0) * kFix1_175875602 + kHalf;
  const std::uint32_t r1 = (d3 + d0) * (0u - kFix0_899976223);
  const std::uint32_t r2 = (d2 + d1) * (0u - kFix2_562915447);
  const std::uint32_t r3 = z5 - (d3 + d1) * kFix1_961570560;
  const std::uint32_t r4 = z5 - (d2 + d0) * kFix0_390180644;
  v[7] = down(d3 * kFix0_298631336 + (r1 + r3), kShift);
  v[5] = down(d2 * kFix2_053119869 + (r2 + r4), kShift);
  v[3] = down(d1 * kFix3_072711026 + (r2 + r3), kShift);
  v[1] = down(d0 * kFix1_501321110 + (r1 + r4), kShift);
}

}  // namespace zerorun::fused
