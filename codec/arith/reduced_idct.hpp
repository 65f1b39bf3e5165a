// Inverse transforms that give 4x4, 2x2 or 1x1 samples for a block: those of libjpeg (jidctred.c)
// for pictures of 1/2, 1/4 and 1/8. Each output is the mean of the outputs of the 8-point transform
// that it stands for; coefficient 4, and in the 2-point transform 2, 4 and 6, have no part in it.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/arith/dct8.hpp"
#include "codec/arith/host_device.hpp"
#include "codec/arith/zigzag.hpp"

namespace zerorun {

/// A block of a picture of 1 / 2^shrink has this many samples along each side.
ZR_HD constexpr int reduced_edge(int shrink) { return kBlockEdge >> shrink; }

/// round(x * 2^13) of sums of the 8-point transform's factors.
inline constexpr std::uint32_t kFix0_211164243 = 1730;
inline constexpr std::uint32_t kFix0_509795579 = 4176;
inline constexpr std::uint32_t kFix0_601344887 = 4926;
inline constexpr std::uint32_t kFix0_720959822 = 5906;
inline constexpr std::uint32_t kFix0_850430095 = 6967;
inline constexpr std::uint32_t kFix1_061594337 = 8697;
inline constexpr std::uint32_t kFix1_272758580 = 10426;
inline constexpr std::uint32_t kFix1_451774981 = 11893;
inline constexpr std::uint32_t kFix2_172734803 = 17799;
inline constexpr std::uint32_t kFix3_624509785 = 29692;

/// A pass to four outputs, v[0..3], from v[0..3] and v[5..7]; T as in dct8.hpp.
template <int kPass, typename T>
ZR_HD void idct4(T (&v)[kBlockEdge]) {
  constexpr int kShift = kIdctShift<kPass> + 1;
  const T dc = (v[0] << (kConstBits + 1)) + (1u << (kShift - 1));
  const T even = v[2] * kFix1_847759065 - v[6] * kFix0_765366865;
  const T inner = v[1] * kFix1_061594337 - v[3] * kFix2_172734803 + v[5] * kFix1_451774981 -
                  v[7] * kFix0_211164243;
  const T outer = v[1] * kFix2_562915447 + v[3] * kFix0_899976223 - v[5] * kFix0_601344887 -
                  v[7] * kFix0_509795579;
  v[0] = shift_right_signed(dc + even + outer, kShift);
  v[1] = shift_right_signed(dc - even + inner, kShift);
  v[2] = shift_right_signed(dc - even - inner, kShift);
  v[3] = shift_right_signed(dc + even - outer, kShift);
}

/// A pass to two outputs, v[0] and v[1], from v[0], v[1], v[3], v[5] and v[7].
template <int kPass, typename T>
ZR_HD void idct2(T (&v)[kBlockEdge]) {
  constexpr int kShift = kIdctShift<kPass> + 2;
  const T dc = (v[0] << (kConstBits + 2)) + (1u << (kShift - 1));
  const T odd = v[1] * kFix3_624509785 - v[3] * kFix1_272758580 + v[5] * kFix0_850430095 -
                v[7] * kFix0_720959822;
  v[0] = shift_right_signed(dc + odd, kShift);
  v[1] = shift_right_signed(dc - odd, kShift);
}

/// A pass to kEdge outputs: 4 or 2.
template <int kEdge, int kPass, typename T>
ZR_HD void reduced_idct(T (&v)[kBlockEdge]) {
  if constexpr (kEdge == 4)
    idct4<kPass>(v);
  else
    idct2<kPass>(v);
}
/// Whether a transform to kEdge outputs, which may be 8, reads coefficient i.
template <int kEdge>
ZR_HD constexpr bool is_read(int i) {
  return kEdge == 8 || (kEdge == 4 ? i != 4 : i == 0 || i % 2 != 0);
}

/// One block to kEdge x kEdge samples: 4, 2 or 1. `at(y, x)` is the dequantised coefficient in row
/// y and column x, and `put(y, x, sample)` takes a sample. T holds the sums of the first pass;
/// between the passes libjpeg keeps 32 bits.
template <int kEdge, typename T, typename At, typename Put>
ZR_HD void reduce_block(const At& at, const Put& put) {
  const auto widen = [](std::int32_t x) { return static_cast<T>(std::int64_t{x}); };
  if constexpr (kEdge == 1) {
    put(0, 0, limit_sample(static_cast<std::uint32_t>(descale(widen(at(0, 0)), 3))));
  } else {
    std::int32_t work[kEdge][kBlockEdge] = {};
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int x = 0; x < kBlockEdge; ++x) {
      if (!is_read<kEdge>(x)) continue;
      T v[kBlockEdge] = {};
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
      for (int y = 0; y < kBlockEdge; ++y)
        if (is_read<kEdge>(y)) v[y] = widen(at(y, x));
      reduced_idct<kEdge, 1>(v);
      for (int y = 0; y < kEdge; ++y) work[y][x] = static_cast<std::int32_t>(v[y]);
    }
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int y = 0; y < kEdge; ++y) {
      T v[kBlockEdge];
      for (int x = 0; x < kBlockEdge; ++x) v[x] = widen(work[y][x]);
      reduced_idct<kEdge, 2>(v);
      for (int x = 0; x < kEdge; ++x) put(y, x, limit_sample(static_cast<std::uint32_t>(v[x])));
    }
  }
}

/// The same with the edge that belongs to `shrink`, 1 to 3.
template <typename T, typename At, typename Put>
ZR_HD void reduce_block(int shrink, const At& at, const Put& put) {
  if (shrink == 1)
    reduce_block<4, T>(at, put);
  else if (shrink == 2)
    reduce_block<2, T>(at, put);
  else
    reduce_block<1, T>(at, put);
}

}  // namespace zerorun
