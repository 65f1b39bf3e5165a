// Forward transform, quantisation, zig-zag order and masks of what is not 0, vectors of blocks.
// SPDX-License-Identifier: MIT

#if defined(ZERORUN_FAST_FDCT_RUN_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ZERORUN_FAST_FDCT_RUN_INL_HPP
#undef ZERORUN_FAST_FDCT_RUN_INL_HPP
#else
#define ZERORUN_FAST_FDCT_RUN_INL_HPP
#endif

#include <algorithm>
#include <array>
#include <cstring>

#include "codec/fast/encode_kernels.hpp"
#include "codec/fast/simd-inl.hpp"

#ifndef ZERORUN_FAST_ZIGZAG_SHUFFLES
#define ZERORUN_FAST_ZIGZAG_SHUFFLES
namespace zerorun::fast {

/// Byte shuffles that take from natural row `from` what belongs into zig-zag row `to`.
struct ZigzagShuffles {
  alignas(16) std::uint8_t byte[8][8][16];  ///< [to][from]; 0x80 gives 0
  bool used[8][8];
};
constexpr ZigzagShuffles make_zigzag_shuffles() {
  ZigzagShuffles out{};
  for (int to = 0; to < 8; ++to)
    for (int from = 0; from < 8; ++from)
      for (int i = 0; i < 8; ++i) {
        const int natural = kNaturalOfZigzag[static_cast<std::size_t>(8 * to + i)];
        const bool here = natural / 8 == from;
        out.used[to][from] |= here;
        for (int b = 0; b < 2; ++b)
          out.byte[to][from][2 * i + b] =
              static_cast<std::uint8_t>(here ? 2 * (natural % 8) + b : 0x80);
      }
  return out;
}
inline constexpr ZigzagShuffles kZigzagShuffles = make_zigzag_shuffles();

}  // namespace zerorun::fast
#endif

#if ZR_FAST_TARGET
HWY_BEFORE_NAMESPACE();
namespace zerorun::fast::HWY_NAMESPACE {

/// fdct8() of arith/dct8.hpp in 16 bits; test: FastTransform.ForwardEqualsTheReference. No sum
/// overflows: samples of -128..127 give at most 2^12 after the first pass, whose eightfold sum is
/// 2^15 only as -2^15. With kWide samples may be kMostOvershoot further from 0 (test:
/// FastTransform. OvershootEqualsTheReference), which gives 5088 after the first pass; of the
/// second only the sums of eight need more than 16 bits.
template <int kPass, bool kWide = false>
HWY_INLINE void fdct16(V16 (&v)[8]) {
  constexpr int kShift = kPass == 1 ? kConstBits - kPass1Bits : kConstBits + kPass1Bits;
  const V16 s0 = hn::Add(v[0], v[7]), s1 = hn::Add(v[1], v[6]);
  const V16 s2 = hn::Add(v[2], v[5]), s3 = hn::Add(v[3], v[4]);
  const V16 d0 = hn::Sub(v[0], v[7]), d1 = hn::Sub(v[1], v[6]);
  const V16 d2 = hn::Sub(v[2], v[5]), d3 = hn::Sub(v[3], v[4]);
  const V16 even0 = hn::Add(s0, s3), even1 = hn::Add(s1, s2);
  const V16 even2 = hn::Sub(s1, s2), even3 = hn::Sub(s0, s3);
  if constexpr (kPass == 1) {
    v[0] = hn::ShiftLeft<kPass1Bits>(hn::Add(even0, even1));
    v[4] = hn::ShiftLeft<kPass1Bits>(hn::Sub(even0, even1));
  } else if constexpr (kWide) {
    v[0] = descale16<kPass1Bits>(combine(even0, 1, even1, 1));
    v[4] = descale16<kPass1Bits>(combine(even0, 1, even1, -1));
  } else {
    const V16 half = hn::Set(D16(), 1 << (kPass1Bits - 1));
    v[0] = hn::ShiftRight<kPass1Bits>(hn::Add(hn::Add(even0, even1), half));
    v[4] = hn::ShiftRight<kPass1Bits>(hn::Add(hn::Sub(even0, even1), half));
  }
  constexpr int k5 = kFix0_541196100;
  v[2] = descale16<kShift>(combine(even3, k5 + int{kFix0_765366865}, even2, k5));
  v[6] = descale16<kShift>(combine(even3, k5, even2, k5 - int{kFix1_847759065}));
  const OddPart odd = rotate_odd16(d3, d2, d1, d0);
  v[7] = descale16<kShift>(odd.a);
  v[5] = descale16<kShift>(odd.b);
  v[3] = descale16<kShift>(odd.c);
  v[1] = descale16<kShift>(odd.d);
}

HWY_INLINE V16 quantise16(V16 x, const QuantRows& quant, int row) {
  const DU16 du;
  const VU16 magnitude = hn::BitCast(du, hn::Abs(x));
  const VU16 t = hn::AverageRound(magnitude, hn::Load(du, quant.half[row]));
  const VU16 q = hn::MulHigh(hn::MulHigh(t, hn::Load(du, quant.reciprocal[row])),
                             hn::Load(du, quant.scale[row]));
  return with_sign_of(hn::BitCast(D16(), q), x);
}

template <std::size_t kTo, std::size_t kFrom = 0>
HWY_INLINE V8 zigzag_row(const V16 (&v)[8]) {
  const D8 d8;
  if constexpr (kFrom == 8) {
    return hn::Zero(d8);
  } else if constexpr (!kZigzagShuffles.used[kTo][kFrom]) {
    return zigzag_row<kTo, kFrom + 1>(v);
  } else {
    const V8 part = hn::TableLookupBytesOr0(hn::BitCast(d8, v[kFrom]),
                                            hn::LoadDup128(d8, kZigzagShuffles.byte[kTo][kFrom]));
    return hn::Or(part, zigzag_row<kTo, kFrom + 1>(v));
  }
}

/// Stores each 128 bits of `row` to its block: blocks[j] + kOffset.
HWY_INLINE void store_row(V16 row, std::int16_t* const (&blocks)[kVectorBlocks], int offset) {
#if HWY_TARGET == HWY_AVX3
  _mm_storeu_si128(reinterpret_cast<__m128i*>(blocks[0] + offset), _mm512_castsi512_si128(row.raw));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(blocks[1] + offset),
                   _mm512_extracti32x4_epi32(row.raw, 1));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(blocks[2] + offset),
                   _mm512_extracti32x4_epi32(row.raw, 2));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(blocks[3] + offset),
                   _mm512_extracti32x4_epi32(row.raw, 3));
#elif HWY_TARGET == HWY_AVX2
  const hn::Half<D16> half;
  hn::StoreU(hn::LowerHalf(half, row), half, blocks[0] + offset);
  hn::StoreU(hn::UpperHalf(half, row), half, blocks[1] + offset);
#else
  hn::StoreU(row, D16(), blocks[0] + offset);
#endif
}

/// Where kVectorBlocks blocks go that lie side by side.
struct BlockPlaces {
  std::int16_t* zz[kVectorBlocks];
  std::uint64_t* nonzero[kVectorBlocks];
};

/// The sum of each block's 64 numbers, from the sums of its columns.
HWY_INLINE void sum_columns(V16 columns, std::int32_t (&sums)[kVectorBlocks]) {
  alignas(64) std::int32_t pairs[4 * kVectorBlocks];
  hn::Store(multiply_add_pairs(columns, hn::Set(D16(), 1)), D32(), pairs);
  for (std::size_t b = 0; b < kVectorBlocks; ++b)
    sums[b] = pairs[4 * b] + pairs[4 * b + 1] + pairs[4 * b + 2] + pairs[4 * b + 3];
}

/// ac_energy() and the sum of each block, from samples with their level shift.
HWY_INLINE void sum_energy(const V16 (&v)[8], std::uint32_t (&energy)[kVectorBlocks],
                           std::int32_t (&sums)[kVectorBlocks]) {
  V16 sum = v[0];
  V32 squares = multiply_add_pairs(v[0], v[0]);
  for (int y = 1; y < 8; ++y) {
    sum = hn::Add(sum, v[y]);
    squares = hn::Add(squares, multiply_add_pairs(v[y], v[y]));
  }
  sum_columns(sum, sums);
  alignas(64) std::int32_t all_squares[4 * kVectorBlocks];
  hn::Store(squares, D32(), all_squares);
  for (std::size_t b = 0; b < kVectorBlocks; ++b) {
    std::int32_t squares_of_block = 0;
    for (std::size_t i = 4 * b; i < 4 * b + 4; ++i) squares_of_block += all_squares[i];
    energy[b] = ac_energy(static_cast<std::uint32_t>(sums[b]),
                          static_cast<std::uint32_t>(squares_of_block));
  }
}

/// Applies overshoot_of() of each block to its level-shifted samples, which add up to `sums`.
HWY_INLINE void move_clipped(std::uint32_t most, const std::int32_t (&sums)[kVectorBlocks],
                             V16 (&v)[8]) {
  const D16 d;
  const auto are = [&](V16 samples, std::int16_t value) {  // -1 where they are
    return hn::VecFromMask(d, hn::Eq(samples, hn::Set(d, value)));
  };
  V16 white = hn::Zero(d), black = hn::Zero(d);
  for (int y = 0; y < 8; ++y) {
    white = hn::Sub(white, are(v[y], 127));
    black = hn::Sub(black, are(v[y], -128));
  }
  std::int32_t whites[kVectorBlocks], blacks[kVectorBlocks];
  sum_columns(white, whites);
  sum_columns(black, blacks);
  alignas(64) std::int16_t above[8 * kVectorBlocks], below[8 * kVectorBlocks];
  bool any = false;
  for (std::size_t b = 0; b < kVectorBlocks; ++b) {
    const Overshoot overshoot =
        overshoot_of({static_cast<std::uint32_t>(sums[b] + 64 * 128),
                      static_cast<std::uint32_t>(whites[b]), static_cast<std::uint32_t>(blacks[b])},
                     most);
    any |= overshoot.any();
    std::fill_n(above + 8 * b, 8, static_cast<std::int16_t>(overshoot.above));
    std::fill_n(below + 8 * b, 8, static_cast<std::int16_t>(overshoot.below));
  }
  if (!any) return;
  const V16 up = hn::Load(d, above), down = hn::Load(d, below);
  for (int y = 0; y < 8; ++y)
    v[y] = hn::Sub(hn::Add(v[y], hn::And(are(v[y], 127), up)), hn::And(are(v[y], -128), down));
}

/// Bit k of *nonzero[b] is set where zz of block b is not 0 in zig-zag row k / 8.
HWY_INLINE void store_masks(const V16 (&zz)[8], std::uint64_t* const (&nonzero)[kVectorBlocks]) {
  std::uint64_t mask[4];
  for (int i = 0; i < 4; ++i) mask[i] = nonzero_bytes(pack_signed(zz[2 * i], zz[2 * i + 1]));
  for (std::size_t b = 0; b < kVectorBlocks; ++b)
    *nonzero[b] = (mask[0] >> 16 * b & 0xFFFF) | (mask[1] >> 16 * b & 0xFFFF) << 16 |
                  (mask[2] >> 16 * b & 0xFFFF) << 32 | (mask[3] >> 16 * b & 0xFFFF) << 48;
}

/// Where a coefficient in zig-zag order does not round to 0.
HWY_INLINE void find_candidates(const TuneTable& table, V16 (&zz)[8]) {
  const D16 d;
  for (int y = 0; y < 8; ++y) {
    const auto least =
        hn::LoadDup128(d, reinterpret_cast<const std::int16_t*>(table.least + 8 * y));
    zz[y] = hn::Not(hn::VecFromMask(d, hn::Lt(hn::Abs(zz[y]), least)));
  }
}

/// kVectorBlocks blocks that lie side by side. kTuned: coefficients stay as the transform left
/// them, the masks have the candidates, and `energy` is set.
template <bool kTuned>
HWY_INLINE void transform_blocks(const std::uint8_t* samples, std::int64_t stride,
                                 const QuantRows& quant, const TuneTable* table,
                                 const BlockPlaces& to, std::uint32_t (&energy)[kVectorBlocks]) {
  const D16 d;
  const hn::Rebind<std::uint8_t, D16> half8;
  V16 v[8];
  for (int y = 0; y < 8; ++y)  // T.81 A.3.1
    v[y] = hn::Sub(hn::PromoteTo(d, hn::LoadU(half8, samples + y * stride)), hn::Set(d, 128));
  if constexpr (kTuned) {
    std::int32_t sums[kVectorBlocks];
    sum_energy(v, energy, sums);
    if (table->most_overshoot != 0) move_clipped(table->most_overshoot, sums, v);
  }
  transpose(v);
  fdct16<1>(v);
  transpose(v);
  fdct16<2, kTuned>(v);
  if constexpr (!kTuned)
    for (int y = 0; y < 8; ++y) v[y] = quantise16(v[y], quant, y);
  V16 zz[8] = {hn::BitCast(d, zigzag_row<0>(v)), hn::BitCast(d, zigzag_row<1>(v)),
               hn::BitCast(d, zigzag_row<2>(v)), hn::BitCast(d, zigzag_row<3>(v)),
               hn::BitCast(d, zigzag_row<4>(v)), hn::BitCast(d, zigzag_row<5>(v)),
               hn::BitCast(d, zigzag_row<6>(v)), hn::BitCast(d, zigzag_row<7>(v))};
  for (int y = 0; y < 8; ++y) store_row(zz[y], to.zz, 8 * y);
  if constexpr (kTuned) find_candidates(*table, zz);
  store_masks(zz, to.nonzero);
}

/// Decides about the coefficients of a block: tune_block() of arith/tune.hpp.
HWY_INLINE void decide(const TransformRunArgs& a, int table, std::uint32_t energy_turn,
                       std::int16_t* zz, std::uint64_t& nonzero) {
  zz[0] = static_cast<std::int16_t>(quantise(zz[0], a.dc[table]));
  RawBlock block(zz, 1, a.tune->table[table]);
  nonzero =
      tune_block(block, nonzero & ~std::uint64_t{1}, *a.tune, a.tune->table[table], energy_turn);
}

/// Copies blocks that lie partly outside of the plane, repeating the last column and row.
inline void gather_edge(const ConstPlaneView& plane, int x0, int y0, std::uint8_t* out) {
  constexpr int kWidth = 8 * static_cast<int>(kVectorBlocks);
  const int valid = std::min(kWidth, plane.width - x0);
  for (int y = 0; y < kBlockEdge; ++y, out += kWidth) {
    const std::uint8_t* row =
        plane.data + std::min(y0 + y, plane.height - 1) * plane.stride_bytes + x0;
    std::memcpy(out, row, static_cast<std::size_t>(valid));
    std::memset(out + valid, row[valid - 1], static_cast<std::size_t>(kWidth - valid));
  }
}

/// Where the blocks of a component's row lie in the run.
struct RowPlace {
  int first_index;  ///< in the MCU, of the row's first block
  int h;            ///< blocks of the row in an MCU
  int per_mcu;
};

template <bool kTuned>
void transform_row(const TransformRunArgs& a, int c, int x_block, int y_block, int blocks,
                   RowPlace place) {
  constexpr int kWidth = 8 * static_cast<int>(kVectorBlocks);
  const ConstPlaneView& plane = a.plane[c];
  const int table = c == 0 ? 0 : 1;
  const QuantRows& quant = a.quant[table];
  const TuneTable* const tune = kTuned ? &a.tune->table[table] : nullptr;
  std::uint8_t edge[kBlockEdge * kWidth];
  alignas(16) std::int16_t spare_block[kBlockSize];
  std::uint64_t spare_mask;
  int mcu = 0, in_row = 0;
  for (int b = 0; b < blocks; b += static_cast<int>(kVectorBlocks)) {
    BlockPlaces to;
    std::uint32_t energy[kVectorBlocks];
    for (int j = 0; j < static_cast<int>(kVectorBlocks); ++j) {
      const int index = mcu * place.per_mcu + place.first_index + in_row;
      const bool wanted = b + j < blocks;
      to.zz[j] = wanted ? a.run->zz[index] : spare_block;
      to.nonzero[j] = wanted ? &a.run->nonzero[index] : &spare_mask;
      if (++in_row == place.h) {
        in_row = 0;
        ++mcu;
      }
    }
    const int x0 = (x_block + b) * kBlockEdge, y0 = y_block * kBlockEdge;
    if (x0 + kWidth <= plane.width && y0 + kBlockEdge <= plane.height) {
      transform_blocks<kTuned>(plane.data + y0 * plane.stride_bytes + x0, plane.stride_bytes, quant,
                               tune, to, energy);
    } else {
      gather_edge(plane, x0, y0, edge);
      transform_blocks<kTuned>(edge, kWidth, quant, tune, to, energy);
    }
    if constexpr (kTuned)
      for (int j = 0; j < std::min(blocks - b, static_cast<int>(kVectorBlocks)); ++j)
        decide(a, table, energy_and_turn(energy[j], turn_of_block(c, x_block + b + j, y_block)),
               to.zz[j], *to.nonzero[j]);
  }
}

/// Blocks of padding get the DC of the block before them and no AC.
inline void fill_padding(const TransformRunArgs& a) {
  const ScanLayout& layout = *a.layout;
  const std::int64_t first = std::int64_t{a.mcu_y} * layout.mcus_wide + a.mcu_x;
  int index = 0;
  for (int m = 0; m < a.mcus; ++m)
    for (int i = 0; i < layout.blocks_per_mcu; ++i, ++index) {
      if (place_block(layout, first + m, i).inside) continue;
      a.run->zz[index][0] = a.run->zz[index - 1][0];
      a.run->nonzero[index] = 0;
    }
}

inline void transform_run(const TransformRunArgs& a) {
  const ScanLayout& layout = *a.layout;
  bool padding = false;
  int first_index = 0;
  for (int c = 0; c < layout.components; ++c) {
    const ScanLayout::Component& component = layout.component[c];
    const int x_block = a.mcu_x * component.h, wanted = a.mcus * component.h;
    const int blocks = std::min(wanted, component.blocks_wide - x_block);
    padding |= blocks < wanted;
    for (int y = 0; y < component.v; ++y, first_index += component.h) {
      const int y_block = a.mcu_y * component.v + y;
      const RowPlace place{first_index, component.h, layout.blocks_per_mcu};
      if (y_block >= component.blocks_high)
        padding = true;
      else if (a.tune != nullptr)
        transform_row<true>(a, c, x_block, y_block, blocks, place);
      else
        transform_row<false>(a, c, x_block, y_block, blocks, place);
    }
  }
  if (padding) fill_padding(a);
}

}  // namespace zerorun::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // ZR_FAST_TARGET

#endif  // per-target include guard
