// Quantisation by one multiplication in single precision. It equals quantise() of
// codec/arith/quant.hpp for every coefficient that 8-bit samples can give and every table entry:
// FloatQuant.EqualsQuantise in tests/cuda/encode/float_quant_test.cpp compares all of them.
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
/// Added to the magic for chroma blocks.
inline constexpr float kChromaMagic = 131072.0f;

/// 1 / 8q and a little more: a quotient that ends in exactly one half then lies beyond it and is
/// rounded away from zero, as it should be. Any other quotient is at least 1 / 2040 away from a
/// half, and the excess is below 2^-18 of 2^10.
inline float quant_reciprocal(std::uint32_t q) {
  return static_cast<float>((1.0 + 0x1p-19) / (8.0 * q));
}

/// `magic_x`: kFloatMagicBits + x, |x| <= 2^14. `magic`: kFloatMagic, or that and kChromaMagic.
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

}  // namespace zerorun
