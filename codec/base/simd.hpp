// Eight 32-bit lanes for the CPU transforms, in GCC's vector extension.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstring>

#include "codec/arith/host_device.hpp"
#include "codec/base/multiversion.hpp"

namespace zerorun {

using U32x8 = std::uint32_t __attribute__((vector_size(32)));
using I32x8 = std::int32_t __attribute__((vector_size(32)));
using I16x8 = std::int16_t __attribute__((vector_size(16)));
using U16x8 = std::uint16_t __attribute__((vector_size(16)));
using U8x16 = std::uint8_t __attribute__((vector_size(16)));

/// The scalar function of arith/dct8.hpp on vectors.
ZR_HD U32x8 shift_right_signed(U32x8 x, int bits) { return (U32x8)((I32x8)x >> bits); }

// Narrowing and widening are shuffles where GCC 12 would work lane by lane.
ZR_HD U32x8 load_samples(const std::uint8_t* p) {
  U8x16 bytes{};
  std::memcpy(&bytes, p, 8);
  const auto words = (U16x8)__builtin_shufflevector(bytes, U8x16{}, 0, 16, 1, 16, 2, 16, 3, 16, 4,
                                                    16, 5, 16, 6, 16, 7, 16);
  return __builtin_convertvector(words, U32x8);
}

ZR_HD I32x8 load_coefficients(const std::int16_t* p) {
  I16x8 values;
  std::memcpy(&values, p, sizeof values);
  return __builtin_convertvector(values, I32x8);
}

/// Values fit in 16 bits.
ZR_HD void store_coefficients(std::int16_t* p, I32x8 v) {
  const I16x8 values = __builtin_convertvector(v, I16x8);
  std::memcpy(p, &values, sizeof values);
}

/// Values are 0..255.
ZR_HD void store_samples(std::uint8_t* p, I32x8 v) {
  const I16x8 words = __builtin_convertvector(v, I16x8);
  const auto bytes = (U8x16)words;
  const U8x16 low =
      __builtin_shufflevector(bytes, bytes, 0, 2, 4, 6, 8, 10, 12, 14, 0, 2, 4, 6, 8, 10, 12, 14);
  std::memcpy(p, &low, 8);
}

/// True if any bit of any lane is set.
ZR_HD bool any_bit(U32x8 v) {
  std::uint64_t part[4];
  std::memcpy(part, &v, sizeof part);
  return (part[0] | part[1] | part[2] | part[3]) != 0;
}

// Interleaving steps of the transposition, in each half of the vectors.
ZR_HD U32x8 low_lanes(U32x8 a, U32x8 b) {
  return __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13);
}
ZR_HD U32x8 high_lanes(U32x8 a, U32x8 b) {
  return __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15);
}
ZR_HD U32x8 low_pairs(U32x8 a, U32x8 b) {
  return __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13);
}
ZR_HD U32x8 high_pairs(U32x8 a, U32x8 b) {
  return __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
}

/// v[i][j] <-> v[j][i]
ZR_HD void transpose(U32x8 (&v)[8]) {
  U32x8 a[8], b[8];
  for (int i = 0; i < 8; i += 2) {
    a[i] = low_lanes(v[i], v[i + 1]);
    a[i + 1] = high_lanes(v[i], v[i + 1]);
  }
  for (int i = 0; i < 8; i += 4) {
    b[i] = low_pairs(a[i], a[i + 2]);
    b[i + 1] = high_pairs(a[i], a[i + 2]);
    b[i + 2] = low_pairs(a[i + 1], a[i + 3]);
    b[i + 3] = high_pairs(a[i + 1], a[i + 3]);
  }
  for (int i = 0; i < 4; ++i) {
    v[i] = __builtin_shufflevector(b[i], b[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    v[i + 4] = __builtin_shufflevector(b[i], b[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

}  // namespace zerorun
