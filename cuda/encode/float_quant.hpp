// Quantisation by one multiplication in single precision. It equals quantise() of
// codec/arith/quant.hpp for every coefficient that 8-bit samples can give and every table entry:
// FloatQuant.EqualsQuantise in tests/cuda/encode/packed_fdct_test.cpp compares all of them.
// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "codec/arith/host_device.hpp"

namespace zerorun {

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
#ifdef __CUDA_ARCH__
  const float x = __uint_as_float(magic_x) - kFloatMagic;
  return __float_as_uint(__fmaf_rn(x, reciprocal, magic));
#else
  const auto x = static_cast<float>(static_cast<std::int32_t>(magic_x - kFloatMagicBits));
  return std::bit_cast<std::uint32_t>(std::fma(x, reciprocal, magic));
#endif
}

/// 1.5 * 2^18: floats of this size are multiples of 1/32.
inline constexpr float kFineMagic = 393216.0f;
inline constexpr std::uint32_t kFineMagicBits = 0x48C00000;

/// As quantise_float(), in 32nds: the bits of kFineMagic + x / 8q. Their low 16 bits have the
/// quotient in 32nds. It equals fine_magnitude() of codec/arith/tune.hpp with the sign of x,
/// without its limit: FloatQuant.FineEqualsFineMagnitude compares all coefficients and entries.
ZR_HD std::uint32_t fine_float(std::uint32_t magic_x, float reciprocal) {
#ifdef __CUDA_ARCH__
  return __float_as_uint(__fmaf_rn(__uint_as_float(magic_x) - kFloatMagic, reciprocal, kFineMagic));
#else
  const auto x = static_cast<float>(static_cast<std::int32_t>(magic_x - kFloatMagicBits));
  return std::bit_cast<std::uint32_t>(std::fma(x, reciprocal, kFineMagic));
#endif
}

/// `fine`: steps, a multiple of 1/32. Gives the bits of magic + round_fine() of it, with its sign:
/// a little more than one half goes away from zero.
ZR_HD std::uint32_t round_float(float fine, float magic) {
  constexpr float kLittleMore = 1.0f + 0x1p-18f;
#ifdef __CUDA_ARCH__
  return __float_as_uint(__fmaf_rn(fine, kLittleMore, magic));
#else
  return std::bit_cast<std::uint32_t>(std::fma(fine, kLittleMore, magic));
#endif
}

/// zone_product() of codec/arith/tune.hpp for one weight; negative for what rounds to 0. Products
/// below 2^24 are exact, and the limits they are compared with are.
struct FloatZone {
  float scale, offset;

  ZR_HD explicit FloatZone(std::uint32_t weight)
      : scale(static_cast<float>(160 * weight)), offset(-static_cast<float>(80 * weight)) {}

  /// `fine`: magnitude in steps.
  ZR_HD float product(float fine) const {
#ifdef __CUDA_ARCH__
    return __fmaf_rn(fine, scale, offset);
#else
    return std::fma(fine, scale, offset);
#endif
  }
};

/// Coefficients that may exceed the limit of fine_magnitude(): of frequencies 0 and 4 alone. A row
/// of samples of -128..127 gives any other one at most 8 * 128 * 2.83 * 2.62 < 7600; for samples
/// that were moved see most_overshoot().
constexpr bool may_exceed_limit(int natural) {
  return natural % 8 % 4 == 0 && natural / 8 % 4 == 0;
}

}  // namespace zerorun
