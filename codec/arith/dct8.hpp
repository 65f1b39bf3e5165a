// The accurate 8-point integer DCT of Loeffler, Ligtenberg and Moschytz (ICASSP 1989), 13-bit
// constants, in the operation order and with the roundings that libjpeg calls "islow".
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/arith/host_device.hpp"

namespace zerorun {

inline constexpr int kConstBits = 13;
/// Fraction bits kept between the two passes.
inline constexpr int kPass1Bits = 2;

/// round(x * 2^13) of the rotation constants.
inline constexpr std::uint32_t kFix0_298631336 = 2446;
inline constexpr std::uint32_t kFix0_390180644 = 3196;
inline constexpr std::uint32_t kFix0_541196100 = 4433;
inline constexpr std::uint32_t kFix0_765366865 = 6270;
inline constexpr std::uint32_t kFix0_899976223 = 7373;
inline constexpr std::uint32_t kFix1_175875602 = 9633;
inline constexpr std::uint32_t kFix1_501321110 = 12299;
inline constexpr std::uint32_t kFix1_847759065 = 15137;
inline constexpr std::uint32_t kFix1_961570560 = 16069;
inline constexpr std::uint32_t kFix2_053119869 = 16819;
inline constexpr std::uint32_t kFix2_562915447 = 20995;
inline constexpr std::uint32_t kFix3_072711026 = 25172;

// T is uint32_t or uint64_t, which wrap around. In two's complement, unsigned sums and products
// equal the signed ones; only the right shift depends on the sign.
ZR_HD std::uint32_t shift_right_signed(std::uint32_t x, int bits) {
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(x) >> bits);
}
ZR_HD std::uint64_t shift_right_signed(std::uint64_t x, int bits) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(x) >> bits);
}

/// x / 2^bits, rounded half up.
template <typename T>
ZR_HD T descale(T x, int bits) {
  return shift_right_signed(x + (1u << (bits - 1)), bits);
}

/// The rotations of both directions (the odd part of the paper's Figure 1): a, b, c, d become the
/// four odd outputs before descaling.
template <typename T>
ZR_HD void rotate_odd(T& a, T& b, T& c, T& d) {
  const T z5 = (a + c + b + d) * kFix1_175875602;
  const T z1 = T{} - (a + d) * kFix0_899976223;
  const T z2 = T{} - (b + c) * kFix2_562915447;
  const T z3 = z5 - (a + c) * kFix1_961570560;
  const T z4 = z5 - (b + d) * kFix0_390180644;
  a = a * kFix0_298631336 + z1 + z3;
  b = b * kFix2_053119869 + z2 + z4;
  c = c * kFix3_072711026 + z2 + z3;
  d = d * kFix1_501321110 + z1 + z4;
}

/// One pass of the forward transform, in place: v[0..7] samples -> frequencies.
/// kPass 1 (rows) leaves kPass1Bits of fraction, kPass 2 (columns) removes them; both together give
/// 8 times the orthonormal DCT.
template <int kPass, typename T>
ZR_HD void fdct8(T (&v)[8]) {
  constexpr int kShift = kPass == 1 ? kConstBits - kPass1Bits : kConstBits + kPass1Bits;
  const T s0 = v[0] + v[7], s1 = v[1] + v[6], s2 = v[2] + v[5], s3 = v[3] + v[4];
  T d0 = v[0] - v[7], d1 = v[1] - v[6], d2 = v[2] - v[5], d3 = v[3] - v[4];

  const T even0 = s0 + s3, even1 = s1 + s2, even2 = s1 - s2, even3 = s0 - s3;
  if constexpr (kPass == 1) {
    v[0] = (even0 + even1) << kPass1Bits;
    v[4] = (even0 - even1) << kPass1Bits;
  } else {
    v[0] = descale(even0 + even1, kPass1Bits);
    v[4] = descale(even0 - even1, kPass1Bits);
  }
  const T z1 = (even2 + even3) * kFix0_541196100;
  v[2] = descale(z1 + even3 * kFix0_765366865, kShift);
  v[6] = descale(z1 - even2 * kFix1_847759065, kShift);

  rotate_odd(d3, d2, d1, d0);
  v[7] = descale(d3, kShift);
  v[5] = descale(d2, kShift);
  v[3] = descale(d1, kShift);
  v[1] = descale(d0, kShift);
}

/// The final right shift of a pass of the inverse transform: kPass 1 (columns), kPass 2 (rows; it
/// also removes the factor 8 of the two-dimensional transform).
template <int kPass>
inline constexpr int kIdctShift =
    kPass == 1 ? kConstBits - kPass1Bits : kConstBits + kPass1Bits + 3;

/// A pass of the inverse transform, in place, without the final shift by kIdctShift<kPass>; the
/// half that rounds is included.
template <int kPass, typename T>
ZR_HD void idct8_unshifted(T (&v)[8]) {
  constexpr std::uint32_t kHalf = 1u << (kIdctShift<kPass> - 1);
  const T z1 = (v[2] + v[6]) * kFix0_541196100;
  const T r2 = z1 - v[6] * kFix1_847759065;
  const T r3 = z1 + v[2] * kFix0_765366865;
  const T r0 = ((v[0] + v[4]) << kConstBits) + kHalf;
  const T r1 = ((v[0] - v[4]) << kConstBits) + kHalf;
  const T even0 = r0 + r3, even3 = r0 - r3, even1 = r1 + r2, even2 = r1 - r2;

  T odd0 = v[7], odd1 = v[5], odd2 = v[3], odd3 = v[1];
  rotate_odd(odd0, odd1, odd2, odd3);

  v[0] = even0 + odd3;
  v[7] = even0 - odd3;
  v[1] = even1 + odd2;
  v[6] = even1 - odd2;
  v[2] = even2 + odd1;
  v[5] = even2 - odd1;
  v[3] = even3 + odd0;
  v[4] = even3 - odd0;
}

/// The whole pass.
template <int kPass, typename T>
ZR_HD void idct8(T (&v)[8]) {
  idct8_unshifted<kPass>(v);
  for (T& x : v) x = shift_right_signed(x, kIdctShift<kPass>);
}

/// x * factor + y, one instruction on a GPU. Without the assembly nvcc adds up the products alone,
/// and y in an instruction more.
ZR_HD std::uint32_t multiply_add(std::uint32_t x, std::uint32_t factor, std::uint32_t y) {
#ifdef __CUDA_ARCH__
  std::uint32_t sum;
  asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(sum) : "r"(x), "r"(factor), "r"(y));
  return sum;
#else
  return x * factor + y;
#endif
}

/// 2 x - y, likewise, and not as a product: a GPU has units for sums and for products, and here are
/// fewer sums.
ZR_HD std::uint32_t twice_less(std::uint32_t x, std::uint32_t y) {
#ifdef __CUDA_ARCH__
  std::uint32_t difference;
  asm("{\n\t"
      ".reg .u32 less;\n\t"
      "sub.u32 less, %1, %2;\n\t"
      "add.u32 %0, less, %1;\n\t"
      "}"
      : "=r"(difference)
      : "r"(x), "r"(y));
  return difference;
#else
  return 2 * x - y;
#endif
}

/// idct8_unshifted<kPass>() times 2^kScale, modulo 2^32: all sums and products there are exact
/// modulo 2^32, so they may be gathered in any way. Here each result is a sum of products, and of
/// two results whose mean is known the second is twice that mean less the first. It takes 29
/// instructions where a product and a sum are one, and the other 38.
template <int kPass, int kScale = 0>
ZR_HD void idct8_by_products(std::uint32_t (&v)[8]) {
  constexpr auto scaled = [](std::uint32_t factor) { return factor << kScale; };
  constexpr std::uint32_t kOne = scaled(1u << kConstBits);
  constexpr std::uint32_t kHalf = scaled(1u << (kIdctShift<kPass> - 1));
  const std::uint32_t r = multiply_add(v[0], kOne, kHalf);
  const std::uint32_t r0 = multiply_add(v[4], kOne, r), r1 = multiply_add(v[4], 0 - kOne, r);
  constexpr std::uint32_t k5 = kFix0_541196100, k7 = kFix0_765366865, k18 = kFix1_847759065;
  std::uint32_t even[4];
  even[0] = multiply_add(v[6], scaled(k5), multiply_add(v[2], scaled(k5 + k7), r0));
  even[1] = multiply_add(v[6], scaled(k5 - k18), multiply_add(v[2], scaled(k5), r1));
  even[2] = twice_less(r1, even[1]);
  even[3] = twice_less(r0, even[0]);

  // rotate_odd() with its products gathered: the factors of v[1], v[3], v[5] and v[7].
  constexpr std::uint32_t k1 = kFix1_175875602, k9 = kFix0_899976223, k25 = kFix2_562915447;
  constexpr std::uint32_t k19 = kFix1_961570560, k3 = kFix0_390180644;
  constexpr std::uint32_t kFactor[4][4] = {
      {kFix1_501321110 - k9 + k1 - k3, k1, k1 - k3, k1 - k9},
      {k1, kFix3_072711026 - k25 + k1 - k19, k1 - k25, k1 - k19},
      {k1 - k3, k1 - k25, kFix2_053119869 - k25 + k1 - k3, k1},
      {k1 - k9, k1 - k19, k1, kFix0_298631336 - k9 + k1 - k19}};
  const std::uint32_t odd[4] = {v[1], v[3], v[5], v[7]};
  for (int i = 0; i < 4; ++i) {
    std::uint32_t sum = even[i];
    for (int k = 0; k < 4; ++k) sum = multiply_add(odd[k], scaled(kFactor[i][k]), sum);
    v[i] = sum;
    v[7 - i] = twice_less(even[i], sum);
  }
}

/// Level shift and range limit after the inverse transform. Only the low 10 bits count, as in
/// libjpeg's range-limit table; the result differs from plain clamping only for impossible
/// coefficients.
ZR_HD std::uint8_t limit_sample(std::uint32_t x) {
  const std::int32_t centred = static_cast<std::int32_t>(x << 22) >> 22;
  const std::int32_t sample = centred + 128;
  return static_cast<std::uint8_t>(sample < 0 ? 0 : sample > 255 ? 255 : sample);
}

/// Every sample of a block of which only the DC is not 0: both passes reduce to one rounding.
ZR_HD std::uint8_t flat_sample(std::int32_t dequantised_dc) {
  const auto dc = static_cast<std::uint32_t>(dequantised_dc);
  return limit_sample(descale(dc << kPass1Bits, kPass1Bits + 3));
}

/// Dequantised coefficients up to this magnitude keep every intermediate of the inverse transform
/// exact in 32 bits: a pass-1 output is at most 7.51 * 2^13 * |x| < 2^31, and pass 2 needs its sums
/// only modulo 2^28. Larger ones, which no encoder makes, take 64 bits.
inline constexpr std::int32_t kMaxNarrowCoefficient = 32767;

}  // namespace zerorun
