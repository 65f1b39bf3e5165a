// Vector operations that the fast stages share; compiled once for each instruction set.
// SPDX-License-Identifier: MIT

// Highway includes such a header once a target: the guard flips with HWY_TARGET_TOGGLE.
#if defined(ZERORUN_FAST_SIMD_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ZERORUN_FAST_SIMD_INL_HPP
#undef ZERORUN_FAST_SIMD_INL_HPP
#else
#define ZERORUN_FAST_SIMD_INL_HPP
#endif

#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "codec/arith/dct8.hpp"

// The baseline's emulated vectors are of no use: there the reference stages run.
#undef ZR_FAST_TARGET
#if HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || \
    HWY_TARGET == HWY_NEON
#define ZR_FAST_TARGET 1
#else
#define ZR_FAST_TARGET 0
#endif

/// The table `name` that was compiled for an instruction set.
#undef ZR_KERNELS_OF
#if HWY_ARCH_ARM_A64
#define ZR_KERNELS_OF(target, name) (static_cast<void>(target), N_NEON::name)
#else
#define ZR_KERNELS_OF(target, name)                  \
  ((target) == InstructionSet::avx512 ? N_AVX3::name \
   : (target) == InstructionSet::avx2 ? N_AVX2::name \
                                      : N_SSE4::name)
#endif

#if ZR_FAST_TARGET
HWY_BEFORE_NAMESPACE();
namespace zerorun::fast::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D16 = hn::ScalableTag<std::int16_t>;
using DU16 = hn::ScalableTag<std::uint16_t>;
using D32 = hn::ScalableTag<std::int32_t>;
using D8 = hn::ScalableTag<std::uint8_t>;
using V16 = hn::Vec<D16>;
using VU16 = hn::Vec<DU16>;
using V32 = hn::Vec<D32>;
using V8 = hn::Vec<D8>;

/// 8x8 blocks that a vector holds one row of: one in each 128 bits.
inline constexpr std::size_t kVectorBlocks = HWY_LANES(std::int16_t) / 8;

// Highway 1.0.3 has no name for these five. The first three work in each 128 bits:
// multiply_add_pairs is a[2i] * b[2i] + a[2i + 1] * b[2i + 1];
// pack_signed gives first the lanes of `a`, then those of `b`, limited to -128..127;
// pack_unsigned limits them to 0..255;
// of nonzero_bytes bit i is set if byte i is not 0;
// with_sign_of gives 0 where the sign is of 0, so `magnitude` has to be 0 there.
#if HWY_TARGET == HWY_NEON
HWY_INLINE V32 multiply_add_pairs(V16 a, V16 b) {
  return V32{vpaddq_s32(vmull_s16(vget_low_s16(a.raw), vget_low_s16(b.raw)),
                        vmull_high_s16(a.raw, b.raw))};
}
HWY_INLINE V8 pack_signed(V16 a, V16 b) {
  return V8{vreinterpretq_u8_s8(vqmovn_high_s16(vqmovn_s16(a.raw), b.raw))};
}
HWY_INLINE V8 pack_unsigned(V16 a, V16 b) {
  return V8{vqmovun_high_s16(vqmovun_s16(a.raw), b.raw)};
}
HWY_INLINE V16 with_sign_of(V16 magnitude, V16 x) {
  const V16 sign = hn::ShiftRight<15>(x);
  return hn::Sub(hn::Xor(magnitude, sign), sign);
}
HWY_INLINE std::uint64_t nonzero_bytes(V8 v) {
  const uint8x16_t bits = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  const uint8x16_t set = vandq_u8(vtstq_u8(v.raw, v.raw), bits);
  return static_cast<std::uint64_t>(vaddv_u8(vget_low_u8(set))) |
         static_cast<std::uint64_t>(vaddv_u8(vget_high_u8(set))) << 8;
}
#else
#if HWY_TARGET == HWY_AVX3
#define ZR_X86(operation) _mm512_##operation
#elif HWY_TARGET == HWY_AVX2
#define ZR_X86(operation) _mm256_##operation
#else
#define ZR_X86(operation) _mm_##operation
#endif

HWY_INLINE V32 multiply_add_pairs(V16 a, V16 b) { return V32{ZR_X86(madd_epi16)(a.raw, b.raw)}; }
HWY_INLINE V8 pack_signed(V16 a, V16 b) { return V8{ZR_X86(packs_epi16)(a.raw, b.raw)}; }
HWY_INLINE V8 pack_unsigned(V16 a, V16 b) { return V8{ZR_X86(packus_epi16)(a.raw, b.raw)}; }
#undef ZR_X86

HWY_INLINE V16 with_sign_of(V16 magnitude, V16 x) {
#if HWY_TARGET == HWY_AVX2
  return V16{_mm256_sign_epi16(magnitude.raw, x.raw)};
#elif HWY_TARGET == HWY_SSE4
  return V16{_mm_sign_epi16(magnitude.raw, x.raw)};
#else
  const V16 sign = hn::ShiftRight<15>(x);
  return hn::Sub(hn::Xor(magnitude, sign), sign);
#endif
}
HWY_INLINE std::uint64_t nonzero_bytes(V8 v) {
#if HWY_TARGET == HWY_AVX3
  return _mm512_test_epi8_mask(v.raw, v.raw);
#elif HWY_TARGET == HWY_AVX2
  return static_cast<std::uint32_t>(
      ~_mm256_movemask_epi8(_mm256_cmpeq_epi8(v.raw, _mm256_setzero_si256())));
#else
  return 0xFFFFu &
         ~static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(v.raw, _mm_setzero_si128())));
#endif
}
#endif

/// The constant pair (even, odd) in all lanes, for multiply_add_pairs().
HWY_INLINE V16 pair(int even, int odd) {
  const auto bits =
      static_cast<std::uint32_t>(odd) << 16 | (static_cast<std::uint32_t>(even) & 0xFFFF);
  return hn::BitCast(D16(), hn::Set(D32(), static_cast<std::int32_t>(bits)));
}

/// v[i][j] <-> v[j][i] in each 128 bits. An interleaving step replaces one bit of the register's
/// number by the highest bit of the lane's, and appends it to the lane's.
HWY_INLINE void transpose(V16 (&v)[8]) {
  const D16 d;
  V16 a[8];
  for (int i = 0; i < 4; ++i) {
    a[i] = hn::InterleaveLower(d, v[i], v[i + 4]);
    a[i + 4] = hn::InterleaveUpper(d, v[i], v[i + 4]);
  }
  V16 b[8];
  for (int i = 0; i < 8; ++i) {
    if (i & 2) continue;
    b[i] = hn::InterleaveLower(d, a[i], a[i + 2]);
    b[i + 2] = hn::InterleaveUpper(d, a[i], a[i + 2]);
  }
  for (int i = 0; i < 8; i += 2) {
    v[i] = hn::InterleaveLower(d, b[i], b[i + 1]);
    v[i + 1] = hn::InterleaveUpper(d, b[i], b[i + 1]);
  }
}

/// Eight 32-bit results of a vector of 16-bit lanes: those of the lower and of the upper half of
/// each 128 bits.
struct Wide {
  V32 lower, upper;
};
HWY_INLINE Wide operator+(Wide a, Wide b) {
  return {hn::Add(a.lower, b.lower), hn::Add(a.upper, b.upper)};
}
HWY_INLINE Wide operator-(Wide a, Wide b) {
  return {hn::Sub(a.lower, b.lower), hn::Sub(a.upper, b.upper)};
}
/// x * kx + y * ky
HWY_INLINE Wide combine(V16 x, int kx, V16 y, int ky) {
  const D16 d;
  const V16 k = pair(kx, ky);
  return {multiply_add_pairs(hn::InterleaveLower(d, x, y), k),
          multiply_add_pairs(hn::InterleaveUpper(d, x, y), k)};
}
/// (x + 2^(kShift - 1)) >> kShift as 16 bits.
template <int kShift>
HWY_INLINE V16 descale16(Wide x) {
  const V32 half = hn::Set(D32(), 1 << (kShift - 1));
  return hn::ReorderDemote2To(D16(), hn::ShiftRight<kShift>(hn::Add(x.lower, half)),
                              hn::ShiftRight<kShift>(hn::Add(x.upper, half)));
}

/// rotate_odd() of arith/dct8.hpp with its products gathered: each output is a sum of four.
struct OddPart {
  Wide a, b, c, d;
};
HWY_INLINE OddPart rotate_odd16(V16 a, V16 b, V16 c, V16 d) {
  constexpr int k1 = kFix1_175875602, k9 = kFix0_899976223, k2 = kFix2_562915447;
  constexpr int k19 = kFix1_961570560, k39 = kFix0_390180644;
  return {
      combine(a, int{kFix0_298631336} - k9 + k1 - k19, d, k1 - k9) + combine(b, k1, c, k1 - k19),
      combine(a, k1, d, k1 - k39) + combine(b, int{kFix2_053119869} - k2 + k1 - k39, c, k1 - k2),
      combine(a, k1 - k19, d, k1) + combine(b, k1 - k2, c, int{kFix3_072711026} - k2 + k1 - k19),
      combine(a, k1 - k9, d, int{kFix1_501321110} - k9 + k1 - k39) + combine(b, k1 - k39, c, k1)};
}

}  // namespace zerorun::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // ZR_FAST_TARGET

#endif  // per-target include guard
