// Dequantisation and inverse transform, vectors of blocks; less work where coefficients are few.
// SPDX-License-Identifier: MIT

#if defined(ZERORUN_FAST_IDCT_ROW_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ZERORUN_FAST_IDCT_ROW_INL_HPP
#undef ZERORUN_FAST_IDCT_ROW_INL_HPP
#else
#define ZERORUN_FAST_IDCT_ROW_INL_HPP
#endif

#include <algorithm>
#include <cstring>

#include "codec/fast/decode_kernels.hpp"
#include "codec/fast/simd-inl.hpp"

#if ZR_FAST_TARGET
HWY_BEFORE_NAMESPACE();
namespace zerorun::fast::HWY_NAMESPACE {

inline constexpr int kGroupBlocks = static_cast<int>(kVectorBlocks);
inline constexpr int kGroupWidth = 8 * kGroupBlocks;

template <int kShift>
HWY_INLINE V16 shift16(Wide x) {
  return hn::ReorderDemote2To(D16(), hn::ShiftRight<kShift>(x.lower),
                              hn::ShiftRight<kShift>(x.upper));
}

/// idct8() of arith/dct8.hpp with products and sums of 32 bits from 16-bit values; test:
/// FastTransform.InverseEqualsTheReference. Where the sum of
/// a column's magnitudes is at most kMaxColumnSum, an output of the first pass is at most
/// 4 * 1.3871 times that and fits 16 bits; the second pass needs its sums modulo 2^28 only.
/// kRows 4: v[4..7] are 0.
inline constexpr int kMaxColumnSum = 5900;
template <int kPass, int kRows>
HWY_INLINE void idct16(V16 (&v)[8]) {
  constexpr int kShift = kIdctShift<kPass>;
  constexpr int k5 = kFix0_541196100, k7 = kFix0_765366865, k18 = kFix1_847759065;
  constexpr int kOne = 1 << kConstBits;
  const V32 half = hn::Set(D32(), 1 << (kShift - 1));
  const Wide round{half, half};
  Wide r0, r1, r2, r3;
  OddPart odd;
  if constexpr (kRows == 8) {
    r0 = combine(v[0], kOne, v[4], kOne) + round;
    r1 = combine(v[0], kOne, v[4], -kOne) + round;
    r2 = combine(v[2], k5, v[6], k5 - k18);
    r3 = combine(v[2], k5 + k7, v[6], k5);
    odd = rotate_odd16(v[7], v[5], v[3], v[1]);
  } else {
    constexpr int k1 = kFix1_175875602, k9 = kFix0_899976223, k25 = kFix2_562915447;
    constexpr int k19 = kFix1_961570560, k39 = kFix0_390180644;
    r0 = r1 = combine(v[0], kOne, v[0], 0) + round;
    r2 = combine(v[2], k5, v[2], 0);
    r3 = combine(v[2], k5 + k7, v[2], 0);
    odd = {combine(v[3], k1 - k19, v[1], k1 - k9), combine(v[3], k1 - k25, v[1], k1 - k39),
           combine(v[3], int{kFix3_072711026} - k25 + k1 - k19, v[1], k1),
           combine(v[3], k1, v[1], int{kFix1_501321110} - k9 + k1 - k39)};
  }
  const Wide even0 = r0 + r3, even3 = r0 - r3, even1 = r1 + r2, even2 = r1 - r2;
  v[0] = shift16<kShift>(even0 + odd.d);
  v[7] = shift16<kShift>(even0 - odd.d);
  v[1] = shift16<kShift>(even1 + odd.c);
  v[6] = shift16<kShift>(even1 - odd.c);
  v[2] = shift16<kShift>(even2 + odd.b);
  v[5] = shift16<kShift>(even2 - odd.b);
  v[3] = shift16<kShift>(even3 + odd.a);
  v[4] = shift16<kShift>(even3 - odd.a);
}

/// Two rows of samples of all blocks: each 128 bits hold 8 of the first and 8 of the second.
HWY_INLINE void store_two_rows(V8 rows, std::uint8_t* first, std::uint8_t* second) {
#if HWY_TARGET == HWY_AVX3
  const __m512i sorted =
      _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), rows.raw);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(first), _mm512_castsi512_si256(sorted));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(second), _mm512_extracti64x4_epi64(sorted, 1));
#elif HWY_TARGET == HWY_AVX2
  const __m256i sorted = _mm256_permute4x64_epi64(rows.raw, 0xD8);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(first), _mm256_castsi256_si128(sorted));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(second), _mm256_extracti128_si256(sorted, 1));
#elif HWY_TARGET == HWY_NEON
  vst1_u8(first, vget_low_u8(rows.raw));
  vst1_u8(second, vget_high_u8(rows.raw));
#else
  _mm_storel_epi64(reinterpret_cast<__m128i*>(first), rows.raw);
  // Not _mm_storeh_pd(): GCC's takes the row for an aligned double.
  _mm_storel_epi64(reinterpret_cast<__m128i*>(second), _mm_unpackhi_epi64(rows.raw, rows.raw));
#endif
}

/// v[x] holds column x of samples before level shift. Only the low 10 bits count, as in
/// limit_sample().
HWY_INLINE void store_columns(const V16 (&v)[8], std::uint8_t* out, std::int64_t stride) {
  const D8 d;
  V8 p[4], q[4], r[4];
  for (int i = 0; i < 4; ++i)
    p[i] = hn::Xor(pack_signed(hn::ShiftRight<6>(hn::ShiftLeft<6>(v[2 * i])),
                               hn::ShiftRight<6>(hn::ShiftLeft<6>(v[2 * i + 1]))),
                   hn::Set(d, 0x80));
  // A transposition as in simd-inl.hpp, of bytes.
  for (int i = 0; i < 2; ++i) {
    q[i] = hn::InterleaveLower(d, p[i], p[i + 2]);
    q[i + 2] = hn::InterleaveUpper(d, p[i], p[i + 2]);
  }
  for (int i = 0; i < 4; i += 2) {
    r[i] = hn::InterleaveLower(d, q[i], q[i + 1]);
    r[i + 1] = hn::InterleaveUpper(d, q[i], q[i + 1]);
  }
  for (int i = 0; i < 2; ++i) {
    const V8 low = hn::InterleaveLower(d, r[i], r[i + 2]);
    const V8 high = hn::InterleaveUpper(d, r[i], r[i + 2]);
    std::uint8_t* row = out + 4 * i * stride;
    store_two_rows(low, row, row + stride);
    store_two_rows(high, row + 2 * stride, row + 3 * stride);
  }
}

/// The first row of dequantised blocks with DC modulo 8192, from -4096 on: 8192 more would add 1024
/// to all samples, of which only the low 10 bits count. Damage can move the DC of all blocks behind
/// it beyond what an encoder makes.
HWY_INLINE V16 wrap_dc(V16 row, V16 is_dc) {
  const V16 wrapped = hn::ShiftRight<3>(hn::ShiftLeft<3>(row));
  return hn::Or(hn::And(is_dc, wrapped), hn::AndNot(is_dc, row));
}

/// False if the 16-bit transform would not be exact; nothing is stored then.
template <int kRows, bool kChecked>
HWY_INLINE bool transform_group(const std::int16_t* group, const DequantRows& dequant,
                                std::uint8_t* out, std::int64_t stride) {
  const D16 d;
  const DU16 du;
  alignas(16) static constexpr std::int16_t kIsDc[8] = {-1};
  const V16 is_dc = hn::LoadDup128(d, kIsDc);
  V16 v[8];
  VU16 sum = hn::Zero(du);
  V16 lost = hn::Zero(d);
  for (int y = 0; y < kRows; ++y) {
    const V16 c = hn::Load(d, group + y * kGroupWidth), q = hn::Load(d, dequant.row[y]);
    v[y] = hn::Mul(c, q);
    if constexpr (kChecked)
      lost = hn::Or(lost, hn::Xor(hn::MulHigh(c, q), hn::ShiftRight<15>(v[y])));
    if (y == 0) {
      v[0] = wrap_dc(v[0], is_dc);
      lost = hn::AndNot(is_dc, lost);
    }
    sum = hn::SaturatedAdd(sum, hn::BitCast(du, hn::Abs(v[y])));
  }
  VU16 beyond = hn::SaturatedSub(sum, hn::Set(du, kMaxColumnSum));
  if constexpr (kChecked) beyond = hn::Or(beyond, hn::BitCast(du, lost));
  if (HWY_UNLIKELY(nonzero_bytes(hn::BitCast(D8(), beyond)) != 0)) return false;
  for (int y = kRows; y < 8; ++y) v[y] = hn::Zero(d);
  idct16<1, kRows>(v);
  transpose(v);
  idct16<2, kRows>(v);
  store_columns(v, out, stride);
  return true;
}

/// Any block, in 64 bits and one by one; libjpeg keeps 32 bits between the passes.
HWY_NOINLINE void transform_wide(const std::int16_t* block, const DequantRows& dequant,
                                 std::uint8_t* out, std::int64_t stride) {
  std::int32_t work[kBlockSize];
  for (int x = 0; x < 8; ++x) {
    std::uint64_t v[8];
    for (int y = 0; y < 8; ++y)
      v[y] =
          static_cast<std::uint64_t>(std::int64_t{block[y * kGroupWidth + x]} * dequant.row[y][x]);
    idct8<1>(v);
    for (int y = 0; y < 8; ++y) work[8 * y + x] = static_cast<std::int32_t>(v[y]);
  }
  for (int y = 0; y < 8; ++y) {
    std::uint64_t v[8];
    for (int x = 0; x < 8; ++x) v[x] = static_cast<std::uint64_t>(std::int64_t{work[8 * y + x]});
    idct8<2>(v);
    for (int x = 0; x < 8; ++x)
      out[y * stride + x] = limit_sample(static_cast<std::uint32_t>(v[x]));
  }
}

/// Blocks of which only the DC is set: both passes reduce to one rounding.
HWY_INLINE void fill_flat(const std::int16_t* group, const DequantRows& dequant, std::uint8_t* out,
                          std::int64_t stride) {
  alignas(64) std::uint8_t row[kGroupWidth];
  for (int b = 0; b < kGroupBlocks; ++b) {
    const auto dc = static_cast<std::uint32_t>(std::int32_t{group[8 * b]} * dequant.row[0][0]);
    const std::uint64_t sample = limit_sample(descale(dc << kPass1Bits, kPass1Bits + 3));
    const std::uint64_t eight = sample * 0x0101010101010101u;
    std::memcpy(row + 8 * b, &eight, sizeof eight);
  }
  for (int y = 0; y < 8; ++y) std::memcpy(out + y * stride, row, kGroupWidth);
}

inline void transform_row(const TransformRowArgs& a) {
  std::uint8_t edge[8 * kGroupWidth];
  const bool checked = a.dequant->checked;
  for (int b = 0; b < a.blocks; b += kGroupBlocks) {
    const std::int16_t* group = a.run->coefficient + std::size_t(a.first + b) * kBlockSize;
    const std::uint8_t* extents = a.run->extent + a.first + b;
    const int here = std::min(a.blocks - b, kGroupBlocks);
    int extent = extents[0];
    for (int j = 1; j < here; ++j) extent = std::max<int>(extent, extents[j]);
    const int x0 = b * kBlockEdge;
    const bool inside =
        here == kGroupBlocks && x0 + kGroupWidth <= a.columns && a.rows >= kBlockEdge;
    std::uint8_t* out = inside ? a.out + x0 : edge;
    const std::int64_t stride = inside ? a.stride : kGroupWidth;
    bool done = false;
    if (extent == 1) {
      fill_flat(group, *a.dequant, out, stride);
      done = true;
    } else if (extent <= 10) {  // zig-zag positions in the first four rows and columns
      done = checked ? transform_group<4, true>(group, *a.dequant, out, stride)
                     : transform_group<4, false>(group, *a.dequant, out, stride);
    } else if (extent <= kBlockSize) {
      done = checked ? transform_group<8, true>(group, *a.dequant, out, stride)
                     : transform_group<8, false>(group, *a.dequant, out, stride);
    }
    for (int j = 0; j < here && !done; ++j)
      transform_wide(group + 8 * j, *a.dequant, out + 8 * j, stride);
    if (inside) continue;
    const auto columns = static_cast<std::size_t>(std::min(here * kBlockEdge, a.columns - x0));
    for (int y = 0; y < std::min(a.rows, kBlockEdge); ++y)
      std::memcpy(a.out + x0 + y * a.stride, edge + y * kGroupWidth, columns);
  }
}

}  // namespace zerorun::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // ZR_FAST_TARGET

#endif  // per-target include guard
