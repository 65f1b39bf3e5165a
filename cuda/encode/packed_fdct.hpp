// The forward transform and the quantisation of a block in the registers of one thread, as second
// forms of codec/arith; tests/cuda/encode/packed_fdct_test.cpp proves that they are equal.
// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "codec/arith/dct8.hpp"
#include "codec/arith/host_device.hpp"
#include "codec/arith/tune.hpp"

namespace zerorun {

// Quantisation by one multiplication in single precision. It equals quantise() of
// codec/arith/quant.hpp for every coefficient that 8-bit samples can give and every table entry
// (FloatQuant.EqualsQuantise).

/// 1.5 * 2^23: floats of this size are whole numbers, so that adding it rounds to the nearest
/// integer. The low bits then have that integer, a negative one in two's complement.
inline constexpr float kFloatMagic = 12582912.0f;
inline constexpr std::uint32_t kFloatMagicBits = 0x4B400000;

/// 2^23 + 2^16, for quantised coefficients: the third byte of its bits, 1 and for a negative
/// coefficient 0, is as small as it can be.
inline constexpr float kLevelMagic = 8454144.0f;
inline constexpr std::uint32_t kLevelMagicBits = 0x4B010000;
/// Added to the magic for chroma blocks.
inline constexpr float kChromaMagic = 131072.0f;

/// 1 / 8q and a little more: a quotient that ends in exactly one half then lies beyond it and is
/// rounded away from zero, as it should be. Any other quotient is at least 1 / 2040 away from a
/// half, and the excess is below 2^-18 of 2^10.
inline float quant_reciprocal(std::uint32_t q) {
  return static_cast<float>((1.0 + 0x1p-19) / (8.0 * q));
}

/// `magic_x`: kFloatMagicBits + x, |x| <= 2^14. `magic`: kLevelMagic, or that and kChromaMagic.
/// Gives the bits of magic + quantise(x, q).
ZR_HD std::uint32_t quantise_float(std::uint32_t magic_x, float reciprocal, float magic) {
  const float x = std::bit_cast<float>(magic_x) - kFloatMagic;
  return std::bit_cast<std::uint32_t>(std::fma(x, reciprocal, magic));
}

/// 1.5 * 2^18: floats of this size are multiples of 1/32.
inline constexpr float kFineMagic = 393216.0f;
inline constexpr std::uint32_t kFineMagicBits = 0x48C00000;

/// As quantise_float(), in 32nds: the bits of kFineMagic + x / 8q. Their low 16 bits have the
/// quotient in 32nds. It equals fine_magnitude() of codec/arith/tune.hpp with the sign of x,
/// without its limit: FloatQuant.FineEqualsFineMagnitude compares all coefficients and entries.
ZR_HD std::uint32_t fine_float(std::uint32_t magic_x, float reciprocal) {
  return quantise_float(magic_x, reciprocal, kFineMagic);
}

/// `fine`: steps, a multiple of 1/32. Gives the bits of magic + round_fine() of it, with its sign:
/// a little more than one half goes away from zero.
ZR_HD std::uint32_t round_float(float fine, float magic) {
  constexpr float kLittleMore = 1.0f + 0x1p-18f;
  return std::bit_cast<std::uint32_t>(std::fma(fine, kLittleMore, magic));
}

/// zone_product() of codec/arith/tune.hpp for one weight; negative for what rounds to 0. Products
/// below 2^24 are exact, and the limits they are compared with are.
struct FloatZone {
  float scale, offset;

  ZR_HD explicit FloatZone(std::uint32_t weight)
      : scale(static_cast<float>(160 * weight)), offset(-static_cast<float>(80 * weight)) {}

  /// `fine`: magnitude in steps.
  ZR_HD float product(float fine) const { return std::fma(fine, scale, offset); }
};

/// Coefficients that may exceed the limit of fine_magnitude(): of frequencies 0 and 4 alone. A row
/// of samples of -128..127 gives any other one at most 8 * 128 * 2.83 * 2.62 < 7600; for samples
/// that were moved see most_overshoot().
constexpr bool may_exceed_limit(int natural) {
  return natural % 8 % 4 == 0 && natural / 8 % 4 == 0;
}

// The transform. It equals fdct8() of codec/arith/dct8.hpp for every input (PackedFdct). A pass is
// a matrix product with one rounding. Rows are products of bytes, four at once; odd frequencies
// with constants of two bytes each.

/// rotate_odd() as a matrix: of[i][j] is the weight of the difference of samples j and 7 - j in
/// frequency 2 i + 1. 16 multiplications with addition take fewer instructions than the 9
/// multiplications and 15 additions of rotate_odd().
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

/// Frequency 0 of a row of samples that are 0, after the level shift.
inline constexpr std::uint32_t kRowOfZeros = kFloatMagicBits - (8 * 128 << kPass1Bits);

/// `sum` and the products of four unsigned bytes with four signed ones.
ZR_HD std::uint32_t dot_unsigned_signed(std::uint32_t a, std::int32_t b, std::uint32_t sum) {
#ifdef __CUDA_ARCH__
  std::uint32_t dot;
  asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(dot) : "r"(a), "r"(b), "r"(sum));
  return dot;
#else
  for (int i = 0; i < 32; i += 8)
    sum += (a >> i & 0xFF) * static_cast<std::uint32_t>(static_cast<std::int8_t>(b >> i));
  return sum;
#endif
}

/// The same with four signed bytes.
ZR_HD std::uint32_t dot_signed(std::uint32_t a, std::int32_t b, std::uint32_t sum) {
#ifdef __CUDA_ARCH__
  return static_cast<std::uint32_t>(
      __dp4a(static_cast<std::int32_t>(a), b, static_cast<std::int32_t>(sum)));
#else
  for (int i = 0; i < 32; i += 8)
    sum += static_cast<std::uint32_t>(static_cast<std::int8_t>(a >> i) *
                                      static_cast<std::int8_t>(b >> i));
  return sum;
#endif
}

/// Four samples, the first one lowest, and how far each of them is moved: a signed byte.
struct SampleWord {
  std::uint32_t samples, moves;
};
/// `sum` and the products of four samples with four signed bytes.
ZR_HD std::uint32_t dot_samples(std::uint32_t samples, std::int32_t weights, std::uint32_t sum) {
  return dot_unsigned_signed(samples, weights, sum);
}
ZR_HD std::uint32_t dot_samples(const SampleWord& word, std::int32_t weights, std::uint32_t sum) {
  return dot_signed(word.moves, weights, dot_unsigned_signed(word.samples, weights, sum));
}

/// Bit 7 of each byte that is 255, and of each that is 0.
ZR_HD std::uint32_t white_bytes(std::uint32_t samples) {
  return ((samples & 0x7F7F7F7F) + 0x01010101) & samples & 0x80808080;
}
ZR_HD std::uint32_t black_bytes(std::uint32_t samples) { return white_bytes(~samples); }

/// Overshoot::apply() of four samples. No product leaves its byte.
ZR_HD SampleWord move_samples(std::uint32_t samples, const Overshoot& overshoot) {
  return {samples, (white_bytes(samples) >> 7) * overshoot.above +
                       (black_bytes(samples) >> 7) * ((256 - overshoot.below) & 0xFF)};
}

/// Counts of parts of a block in one word, which add up: the sum of their samples, and from bits
/// 16 and 24 on how many of them are 255 and 0.
inline constexpr int kWhiteAt = 16, kBlackAt = 24;
ZR_HD std::uint32_t count_clipped(std::uint32_t samples) {
#ifdef __CUDA_ARCH__
  const auto count = [](std::uint32_t bits) {
    return static_cast<std::uint32_t>(__popc(static_cast<int>(bits)));
  };
#else
  const auto count = [](std::uint32_t bits) {
    return static_cast<std::uint32_t>(std::popcount(bits));
  };
#endif
  return (count(white_bytes(samples)) << kWhiteAt) + (count(black_bytes(samples)) << kBlackAt);
}
ZR_HD ClippedSamples clipped_samples(std::uint32_t counts) {
  return {counts & 0xFFFF, counts >> kWhiteAt & 0xFF, counts >> kBlackAt};
}

/// Samples 0 and 7 without 3 and 4, and samples 1 and 6 without 2 and 5: the weights of samples 0
/// to 3 and of 4 to 7, the first one lowest.
inline constexpr std::int32_t kOuterFirst = static_cast<std::int32_t>(0xFF000001),
                              kOuterLast = 0x010000FF;
inline constexpr std::int32_t kInnerFirst = 0x00FF0100, kInnerLast = 0x0001FF00;

/// The weights of samples 0 to 3 and of 4 to 7 in an odd frequency of pass 1: 128 * high + low.
struct RowWeights {
  std::int32_t high[2], low[2];  ///< four bytes each
};
constexpr RowWeights row_weights(int frequency) {
  RowWeights weights{};
  for (int i = 0; i < 8; ++i) {
    const std::int32_t weight =
        odd_rotation().of[frequency / 2][i < 4 ? i : 7 - i] * (i < 4 ? 1 : -1);
    const std::int32_t low = ((weight + 64) & 127) - 64, high = (weight - low) / 128;
    weights.high[i / 4] |=
        static_cast<std::int32_t>(static_cast<std::uint32_t>(high & 0xFF) << (8 * (i % 4)));
    weights.low[i / 4] |=
        static_cast<std::int32_t>(static_cast<std::uint32_t>(low & 0xFF) << (8 * (i % 4)));
  }
  return weights;
}

/// row_weights() of frequencies 1, 3, 5 and 7.
struct AllRowWeights {
  RowWeights of[4];
};
constexpr AllRowWeights all_row_weights() {
  AllRowWeights all{};
  for (int i = 0; i < 4; ++i) all.of[i] = row_weights(2 * i + 1);
  return all;
}
#ifdef __CUDACC__
/// In constant memory, which an instruction reads by itself; a weight in the code takes one more
/// instruction. Not const, because the compiler would put constants into the code.
static __constant__ AllRowWeights device_row_weights = all_row_weights();
#endif

template <int kFrequency>
ZR_HD RowWeights weights_of_row() {
#ifdef __CUDA_ARCH__
  return device_row_weights.of[kFrequency / 2];
#else
  constexpr RowWeights kWeights = row_weights(kFrequency);
  return kWeights;
#endif
}

/// fdct8<1> of eight samples, the first one lowest: kFloatMagicBits + an odd frequency. Its weights
/// add up to 0, so that the level shift changes nothing. Word: four samples, as std::uint32_t or
/// SampleWord.
template <int kFrequency, typename Word>
ZR_HD std::uint32_t fdct_row_frequency(const Word& first, const Word& last) {
  const RowWeights weights = weights_of_row<kFrequency>();
  constexpr int kShift = kConstBits - kPass1Bits;
  constexpr std::uint32_t kHalf = 1u << (kShift - 1);
  const std::uint32_t high =
      dot_samples(first, weights.high[0], dot_samples(last, weights.high[1], 0));
  const std::uint32_t low =
      dot_samples(first, weights.low[0], dot_samples(last, weights.low[1], kHalf));
  return kFloatMagicBits + shift_right_signed(high + shift_right_signed(low, 7), kShift - 7);
}

/// fdct8<1> of eight samples. out[k] = kFloatMagicBits + frequency k.
template <typename Word>
ZR_HD void fdct_row(const Word& first, const Word& last, std::uint32_t (&out)[8]) {
  // Frequencies 0 and 4 are sums of whole samples, times 2^kPass1Bits. The level shift (T.81 A.3.1)
  // changes frequency 0 alone.
  constexpr std::int32_t kSum = 0x01010101 << kPass1Bits;
  constexpr std::int32_t kOuterLessInner = 0x04FCFC04;
  static_assert(kPass1Bits == 2);
  out[0] = dot_samples(first, kSum, dot_samples(last, kSum, kRowOfZeros));
  out[4] = dot_samples(first, kOuterLessInner, dot_samples(last, kOuterLessInner, kFloatMagicBits));
  // Frequencies 2 and 6 share a rotation of two such sums, which takes less than products of bytes.
  const std::uint32_t outer =
      dot_samples(first, kOuterFirst, dot_samples(last, kOuterLast, std::uint32_t{0}));
  const std::uint32_t inner =
      dot_samples(first, kInnerFirst, dot_samples(last, kInnerLast, std::uint32_t{0}));
  constexpr int kShift = kConstBits - kPass1Bits;
  const std::uint32_t z1 = (inner + outer) * kFix0_541196100 + (1u << (kShift - 1));
  out[2] = kFloatMagicBits + shift_right_signed(z1 + outer * kFix0_765366865, kShift);
  out[6] = kFloatMagicBits + shift_right_signed(z1 - inner * kFix1_847759065, kShift);
  out[1] = fdct_row_frequency<1>(first, last);
  out[3] = fdct_row_frequency<3>(first, last);
  out[5] = fdct_row_frequency<5>(first, last);
  out[7] = fdct_row_frequency<7>(first, last);
}

/// fdct8<2> of a column of pass 1, in place: v[k] = kFloatMagicBits + result. The eight biases add
/// up to a constant in frequency 0 and cancel in all others.
ZR_HD void fdct_column(std::uint32_t (&v)[8]) {
  constexpr int kShift = kConstBits + kPass1Bits;
  constexpr std::uint32_t kHalf = 1u << (kShift - 1);
  const auto down = [](std::uint32_t x, int shift) {
    return kFloatMagicBits + shift_right_signed(x, shift);
  };
  // An instruction adds three terms.
  const std::uint32_t s2 = v[2] + v[5], s3 = v[3] + v[4];
  const std::uint32_t even0 = (v[0] + s3) + v[7], even3 = (v[0] - s3) + v[7];
  const std::uint32_t even1 = (v[1] + s2) + v[6], even2 = (v[1] - s2) + v[6];
  const std::uint32_t d0 = v[0] - v[7], d1 = v[1] - v[6], d2 = v[2] - v[5], d3 = v[3] - v[4];
  constexpr std::uint32_t kRound = 1u << (kPass1Bits - 1);
  v[0] = down(even0 + even1 + (kRound - 8 * kFloatMagicBits), kPass1Bits);
  v[4] = down(even0 - even1 + kRound, kPass1Bits);
  const std::uint32_t z1 = (even2 + even3) * kFix0_541196100 + kHalf;
  v[2] = down(z1 + even3 * kFix0_765366865, kShift);
  v[6] = down(z1 - even2 * kFix1_847759065, kShift);

  constexpr OddRotation kOdd = odd_rotation();
  const auto odd = [&](const std::int32_t(&weight)[4]) {
    const auto of = [&](int j) { return static_cast<std::uint32_t>(weight[j]); };
    return down(kHalf + d0 * of(0) + d1 * of(1) + d2 * of(2) + d3 * of(3), kShift);
  };
  v[1] = odd(kOdd.of[0]);
  v[3] = odd(kOdd.of[1]);
  v[5] = odd(kOdd.of[2]);
  v[7] = odd(kOdd.of[3]);
}

}  // namespace zerorun
