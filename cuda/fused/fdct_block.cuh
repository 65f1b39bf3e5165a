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

/// rotate_odd() as a matrix: frequency 2 i + 1 has of the difference of samples j and 7 - j so
/// much. 16 multiplications with addition take fewer instructions than its 9 and 15 additions.
struct OddRotation {
  std::int32_t of[4][4];
};
constexpr OddRotation odd_rotation() {
  constexpr auto fix = [](std::uint32_t constant) { return static_cast<std::int32_t>(constant); };
  constexpr std::int32_t z5 = fix(kFix1_175875602);
  constexpr std::int32_t z1 = -fix(kFix0_899976223), z2 = -fix(kFix2_562915447);
  constexpr std::int32_t z3 = z5 - fix(kFix1_961570560), z4 = z5 - fix(kFix0_390180644);
  return {{{fix(kFix1_501321110) + z1 + z4, z5, z4, z1 + z5},
           {z5, fix(kFix3_072711026) + z2 + z3, z2 + z5, z3},
           {z4, z2 + z5, fix(kFix2_053119869) + z2 + z4, z5},
           {z1 + z5, z3, z5, fix(kFix0_298631336) + z1 + z3}}};
}

/// Frequency 0 of a row of samples that are 0, level shift included.
constexpr std::uint32_t kRowOfZeros = kFloatMagicBits - (8 * 128 << kPass1Bits);

/// Four bytes without a sign times four with one, and `sum`.
__device__ inline std::uint32_t dot_unsigned_signed(std::uint32_t a, std::int32_t b,
                                                    std::uint32_t sum) {
  std::uint32_t dot;
  asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(dot) : "r"(a), "r"(b), "r"(sum));
  return dot;
}

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
  const float even2 = s1 - s2, even3 = s0 - s3;
  constexpr float kHalf = 1 << (kConstBits - kPass1Bits - 1);
  constexpr float kStep = 1.0f / (1 << (kConstBits - kPass1Bits));
  const auto down = [&](float v) { return __float_as_uint(__fmaf_rd(v, kStep, kFloatMagic)); };
  // Frequencies 0 and 4 are sums of whole samples, times 2^kPass1Bits. The level shift (T.81 A.3.1)
  // changes frequency 0 alone.
  constexpr std::uint32_t kSum = 0x01010101u << kPass1Bits;
  constexpr std::int32_t kOuterLessInner = 0x04FCFC04;
  static_assert(kPass1Bits == 2);
  out[0] = __dp4a(samples.x, kSum, __dp4a(samples.y, kSum, kRowOfZeros));
  out[4] = dot_unsigned_signed(samples.x, kOuterLessInner,
                               dot_unsigned_signed(samples.y, kOuterLessInner, kFloatMagicBits));
  const float z1 = __fmaf_rn(even2 + even3, kFix0_541196100, kHalf);
  out[2] = down(__fmaf_rn(even3, kFix0_765366865, z1));
  out[6] = down(__fmaf_rn(even2, -static_cast<float>(kFix1_847759065), z1));

  constexpr OddRotation kOdd = odd_rotation();
  const float d[4] = {d0, d1, d2, d3};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    float sum = kHalf;
#pragma unroll
    for (int j = 0; j < 4; ++j) sum = __fmaf_rn(d[j], static_cast<float>(kOdd.of[i][j]), sum);
    out[2 * i + 1] = down(sum);
  }
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
  const std::uint32_t d0 = v[0] - v[7], d1 = v[1] - v[6], d2 = v[2] - v[5], d3 = v[3] - v[4];
  const std::uint32_t even0 = s0 + s3, even1 = s1 + s2, even2 = s1 - s2, even3 = s0 - s3;
  constexpr std::uint32_t kRound = 1u << (kPass1Bits - 1);
  v[0] = down(even0 + even1 + (kRound - 8 * kFloatMagicBits), kPass1Bits);
  v[4] = down(even0 - even1 + kRound, kPass1Bits);
  const std::uint32_t z1 = (even2 + even3) * kFix0_541196100 + kHalf;
  v[2] = down(z1 + even3 * kFix0_765366865, kShift);
  v[6] = down(z1 - even2 * kFix1_847759065, kShift);

  constexpr OddRotation kOdd = odd_rotation();
  const std::uint32_t d[4] = {d0, d1, d2, d3};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    std::uint32_t sum = kHalf;
#pragma unroll
    for (int j = 0; j < 4; ++j) sum += d[j] * static_cast<std::uint32_t>(kOdd.of[i][j]);
    v[2 * i + 1] = down(sum, kShift);
  }
}

}  // namespace zerorun::fused
