// Eight 32-bit lanes for the CPU transforms, in GCC's vector extension.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstring>

#include "codec/arith/host_device.hpp"
#include "codec/core/multiversion.hpp"

namespace zerorun {

using U32x8 = std::uint32_t __attribute__((vector_size(32)));
using I32x8 = std::int32_t __attribute__((vector_size(32)));
using I16x8 = std::int16_t __attribute__((vector_size(16)));
using U8x8 = std::uint8_t __attribute__((vector_size(8)));

/// The vector twin of the scalar function in arith/dct8.hpp.
ZR_HD U32x8 shift_right_signed(U32x8 x, int bits) { return (U32x8)((I32x8)x >> bits); }

ZR_HD U32x8 load_samples(const std::uint8_t* p) {
  U8x8 bytes;
  std::memcpy(&bytes, p, sizeof bytes);
  return __builtin_convertvector(bytes, U32x8);
}

ZR_HD I32x8 load_coefficients(const std::int16_t* p) {
  I16x8 values;
  std::memcpy(&values, p, sizeof values);
  return __builtin_convertvector(values, I32x8);
}

ZR_HD void store_coefficients(std::int16_t* p, I32x8 v) {
  const I16x8 values = __builtin_convertvector(v, I16x8);
  std::memcpy(p, &values, sizeof values);
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
