// The fast encoder's kernels, compiled for each instruction set: samples to quantised blocks,
// blocks to bits in one pass, or by way of tokens for optimal tables.
// SPDX-License-Identifier: MIT
#include "codec/fast/encode_kernels.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "codec/arith/symbol.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/fast/encode_kernels.cpp"
#include <hwy/foreach_target.h>

#include "codec/fast/simd-inl.hpp"

#if ZR_FAST_TARGET
HWY_BEFORE_NAMESPACE();
namespace zerorun::fast::HWY_NAMESPACE {

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

/// fdct8() of arith/dct8.hpp in 16 bits; test: FastEncode.HardBlocks. No sum overflows: samples of
/// -128..127 give at most 2^12 after the first pass, whose eightfold sum is 2^15 only as -2^15.
/// With kWide samples may be kMostOvershoot further from 0 (test: Overshoot.RangesHold), which
/// gives 5088 after the first pass; of the second only the sums of eight need more than 16 bits.
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

/// Writes entries of CodeTables.
struct BitPutter : BitState {
  HWY_INLINE void put_entry(std::uint32_t entry) {
    put(entry >> kLengthBits, static_cast<int>(entry % 64));
  }
  HWY_INLINE void put_entries(std::uint32_t first, std::uint32_t second) {
    put(std::uint64_t{first >> kLengthBits} << second % 64 | second >> kLengthBits,
        static_cast<int>((first + second) % 64));
  }
  HWY_INLINE void put_long(std::uint32_t entry, std::uint32_t token, std::uint32_t appended) {
    put((entry >> kLengthBits) << token % 16 | appended, static_cast<int>(entry % 64));
  }
};

/// Whether more than 15 zeros stand before a coefficient. Bit 0 of `rest` counts as set.
HWY_INLINE bool has_long_run(std::uint64_t rest) {
  rest |= 1;
  std::uint64_t near = rest;  // the 15 places behind each
  for (int step = 1; step < 16; step *= 2) near |= near << step;
  const std::uint64_t first_far = ~near & (near + 1);
  return first_far - 1 < rest;  // never if there is none
}

/// Offsets that make values tokens, as if each stood behind a run from index 0.
struct TokenPlaces {
  alignas(64) std::uint16_t at[2][kBlockSize];  ///< by AC table
  alignas(64) std::uint16_t not_direct[kBlockSize];
  constexpr TokenPlaces() : at{}, not_direct{} {
    for (int k = 0; k < kBlockSize; ++k) {
      for (int t = 0; t < 2; ++t)
        at[t][k] = static_cast<std::uint16_t>(t * kTokensPerTable + kDirectOffset +
                                              (k - 1) * kDirectValues);
      not_direct[k] = k == 0 ? 0 : static_cast<std::uint16_t>(~(kDirectValues - 1));
    }
  }
};

/// False: not all AC coefficients have tokens of their own.
HWY_INLINE bool place_values(const std::int16_t* zz, const TokenPlaces& places,
                             std::uint32_t ac_table, std::uint16_t* out) {
  const DU16 d;
  VU16 all = hn::Zero(d);
  for (std::size_t i = 0; i < kBlockSize; i += HWY_LANES(std::uint16_t)) {
    const VU16 value = hn::BitCast(d, hn::Load(D16(), zz + i));
    const VU16 from_0 = hn::Add(value, hn::Set(d, kDirectOffset));
    all = hn::Or(all, hn::And(from_0, hn::Load(d, places.not_direct + i)));
    hn::Store(hn::Add(value, hn::Load(d, places.at[ac_table] + i)), d, out + i);
  }
  return hn::AllTrue(d, hn::Eq(all, hn::Zero(d)));
}

/// The AC coefficients at the set bits of `rest`, of any values and runs.
template <typename Sink>
HWY_NOINLINE void send_any_coefficients(const std::int16_t* zz, std::uint64_t rest,
                                        std::uint32_t ac_table, Sink& sink) {
  const std::uint32_t base = ac_table * kTokensPerTable;
  int after = 1;  // behind the last coded coefficient
  for (; rest != 0; rest &= rest - 1) {
    const int k = std::countr_zero(rest);
    auto run = static_cast<std::uint32_t>(k - after);
    after = k + 1;
    for (; run > 15; run -= 16) sink.add(base + kTokenSymbol + kZrl);
    const std::int32_t value = zz[k];
    const auto at = static_cast<std::uint32_t>(value + kDirectOffset);
    if (at < kDirectValues) {
      sink.add(base + run * kDirectValues + at);
    } else {
      const Symbol symbol = make_symbol(static_cast<int>(run), value, 0);
      sink.add(kTokenLong + (2 + ac_table) * 256 + symbol.rrrrssss, symbol.appended);
    }
  }
}

/// Gives the tokens of a block to sink.add(token) and sink.add(token, appended bits).
template <typename Sink>
HWY_INLINE void send_tokens(const std::int16_t* zz, std::uint64_t nonzero, std::int32_t diff,
                            std::uint32_t dc_table, std::uint32_t ac_table, Sink& sink) {
  static constexpr TokenPlaces kPlaces;
  const auto at = static_cast<std::uint32_t>(diff + kDirectDiffOffset);
  if (HWY_LIKELY(at < kDirectDiffs)) {
    sink.add(kTokenDc + dc_table * kDirectDiffs + at);
  } else {
    const Symbol first = make_symbol(0, diff, 0);
    sink.add(kTokenLong + dc_table * 256 + first.rrrrssss, first.appended);
  }
  std::uint64_t rest = nonzero & ~std::uint64_t{1};
  if (rest != 0) {
    alignas(64) std::uint16_t placed[kBlockSize];
    if (HWY_LIKELY(place_values(zz, kPlaces, ac_table, placed) && !has_long_run(rest))) {
      std::uint64_t before = 0;  // index of the last coded coefficient
      do {
        const auto k = static_cast<std::uint64_t>(std::countr_zero(rest));
        rest &= rest - 1;
        sink.add(placed[k] - before * kDirectValues);
        before = k;
      } while (rest != 0);
    } else {
      send_any_coefficients(zz, rest, ac_table, sink);
    }
  }
  if (nonzero >> (kBlockSize - 1) == 0) sink.add(ac_table * kTokensPerTable + kTokenSymbol + kEob);
}

template <typename Sink>
HWY_INLINE void send_run(const ScanLayout& layout, const BlockRun& run, int mcus,
                         Predictions& predictions, Sink& sink) {
  int index = 0;
  for (int m = 0; m < mcus; ++m)
    for (int i = 0; i < layout.blocks_per_mcu; ++i, ++index) {
      const int c = layout.block_component[i];
      const auto& component = layout.component[c];
      const std::int16_t* zz = run.zz[index];
      const std::int32_t diff = zz[0] - predictions.dc[c];
      predictions.dc[c] = zz[0];
      send_tokens(zz, run.nonzero[index], diff, component.dc_table, component.ac_table, sink);
    }
}

struct CodeSink {
  const CodeTables& tables;
  BitPutter bits;
  HWY_INLINE void add(std::uint64_t token) { bits.put_entry(tables.entry[token]); }
  HWY_INLINE void add(std::uint64_t token, std::uint32_t appended) {
    bits.put_long(tables.entry[token], static_cast<std::uint32_t>(token), appended);
  }
};

inline void code_run(const ScanLayout& layout, const BlockRun& run, int mcus,
                     const CodeTables& tables, Predictions& predictions, BitState& state) {
  CodeSink sink{tables, {state}};
  send_run(layout, run, mcus, predictions, sink);
  state = sink.bits;
}

struct TokenSink {
  std::uint16_t* out;
  std::uint32_t* count;
  HWY_INLINE void add(std::uint64_t token) {
    ++count[token];
    *out++ = static_cast<std::uint16_t>(token);
  }
  HWY_INLINE void add(std::uint64_t token, std::uint32_t appended) {
    add(token);
    *out++ = static_cast<std::uint16_t>(appended);
  }
};

inline std::uint16_t* tokens_of_run(const ScanLayout& layout, const BlockRun& run, int mcus,
                                    Predictions& predictions, std::uint16_t* out,
                                    TokenCounts& counts) {
  TokenSink sink{out, counts.count};
  send_run(layout, run, mcus, predictions, sink);
  return sink.out;
}

HWY_INLINE void code_token(const std::uint16_t*& next, const CodeTables& tables, BitPutter& bits) {
  const std::uint32_t token = *next++, entry = tables.entry[token];
  if ((token & kTokenLong) != 0)
    bits.put_long(entry, token, *next++);
  else
    bits.put_entry(entry);
}

inline void code_tokens(const std::uint16_t* begin, const std::uint16_t* end,
                        const CodeTables& tables, BitState& state) {
  BitPutter bits{state};
  while (end - begin >= 4) {
    std::uint64_t four;
    std::memcpy(&four, begin, sizeof four);
    if (HWY_LIKELY((four & kTokenLong * 0x0001'0001'0001'0001u) == 0)) {
      bits.put_entries(tables.entry[begin[0]], tables.entry[begin[1]]);
      bits.put_entries(tables.entry[begin[2]], tables.entry[begin[3]]);
      begin += 4;
    } else {
      code_token(begin, tables, bits);
    }
  }
  while (begin < end) code_token(begin, tables, bits);
  state = bits;
}

inline std::uint8_t* stuff(const std::uint8_t* begin, const std::uint8_t* end, std::uint8_t* out) {
  const D8 d;
  constexpr std::ptrdiff_t kStep = HWY_LANES(std::uint8_t);
  const V8 ff = hn::Set(d, 0xFF);
  while (end - begin >= kStep) {
    const V8 bytes = hn::LoadU(d, begin);
    hn::StoreU(bytes, d, out);
    const std::ptrdiff_t at = hn::FindFirstTrue(d, hn::Eq(bytes, ff));
    if (HWY_LIKELY(at < 0)) {
      begin += kStep;
      out += kStep;
      continue;
    }
    begin += at + 1;
    out += at + 1;
    *out++ = 0;
  }
  while (begin < end) {
    *out++ = *begin;
    if (*begin++ == 0xFF) *out++ = 0;
  }
  return out;
}

constexpr EncodeKernels kEncodeKernels{transform_run, code_run, tokens_of_run, code_tokens, stuff};

}  // namespace zerorun::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // ZR_FAST_TARGET

#if HWY_ONCE
namespace zerorun::fast {

void fill_quant_rows(const std::uint16_t* table, QuantRows& out) {
  for (int i = 0; i < kBlockSize; ++i) {
    const std::uint32_t divisor = 4u * table[i];
    std::uint32_t s = 1;
    while ((2u << s) < divisor) ++s;
    const std::uint32_t reciprocal = ((1u << (16 + s)) + divisor - 1) / divisor;
    for (int copy = 0; copy < 4; ++copy) {
      out.half[i / 8][8 * copy + i % 8] = static_cast<std::uint16_t>(divisor - 1);
      out.reciprocal[i / 8][8 * copy + i % 8] = static_cast<std::uint16_t>(reciprocal);
      out.scale[i / 8][8 * copy + i % 8] = static_cast<std::uint16_t>(1u << (16 - s));
    }
  }
}

const EncodeKernels& encode_kernels(InstructionSet target) {
  return ZR_KERNELS_OF(target, kEncodeKernels);
}

}  // namespace zerorun::fast
#endif
