// The fast decoder's kernels, compiled for each instruction set: unstuffing, bits to coefficients,
// coefficients to samples, and walks that count MCUs.
// SPDX-License-Identifier: MIT
#include "codec/fast/decode_kernels.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "codec/arith/reduced_idct.hpp"
#include "codec/arith/symbol.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/fast/decode_kernels.cpp"
#include <hwy/foreach_target.h>

#include "codec/fast/simd-inl.hpp"

#if ZR_FAST_TARGET
HWY_BEFORE_NAMESPACE();
namespace zerorun::fast::HWY_NAMESPACE {

/// The offset of zig-zag index k from the start of the block. Indices behind the block lead to the
/// DC, which is stored last.
constexpr auto make_places() {
  std::array<std::uint8_t, kMaxPlace> places{};
  for (std::size_t k = 0; k < kBlockSize; ++k)
    places[k] = static_cast<std::uint8_t>(kNaturalOfZigzag[k] / 8 * 8 * kVectorBlocks +
                                          kNaturalOfZigzag[k] % 8);
  return places;
}
alignas(64) inline constexpr auto kPlaces = make_places();

/// Decodes one AC symbol of any length at index k, and advances k, beyond 64 after EOB. False: the
/// bits are wrong.
HWY_NOINLINE bool slow_ac(ByteWindow& bits, const HuffmanDecodeTable& table, std::int16_t* block,
                          int& k, bool& wide) {
  bits.refill();
  const DecodedSymbol symbol = decode_symbol(table, bits.peek16());
  const int run = symbol.value >> 4, ssss = symbol.value & 15;
  if (symbol.bits == 0) return false;
  bits.drop(symbol.bits);
  if (ssss == 0 && run != 15) {
    k += kEndOfBlock;
    return true;
  }
  if (k + run >= kBlockSize) return false;
  wide |= ssss > 10;
  block[kPlaces[static_cast<std::size_t>(k + run)]] =
      static_cast<std::int16_t>(extend(bits.take(ssss), ssss));
  k += run + 1;
  return true;
}

/// Decodes one DC difference of any length. False: the bits are wrong.
HWY_NOINLINE bool slow_dc(ByteWindow& bits, const HuffmanDecodeTable& table, std::int16_t& diff) {
  const DecodedSymbol symbol = decode_symbol(table, bits.peek16());
  if (symbol.bits == 0) return false;
  bits.drop(symbol.bits);
  const int ssss = symbol.value & 15;
  diff = static_cast<std::int16_t>(extend(bits.take(ssss), ssss));
  bits.refill();
  return true;
}

/// The AC of a block; `block` is 0. Returns the zig-zag positions up to the last symbol, 1..64, or
/// 0 if something is wrong. There are bits for kStepsPerRefill steps.
inline constexpr int kStepsPerRefill = 4;
static_assert(kDcStepBits + kStepsPerRefill * kAcStepBits <= 56);
HWY_INLINE int decode_ac(ByteWindow& bits, const AcTable& table, std::int16_t* block, bool& wide) {
  for (int k = 1;; bits.refill()) {
#pragma GCC unroll 4
    for (int step = 0; step < kStepsPerRefill; ++step) {
      const AcStep& s = table.step[bits.window >> (64 - kAcStepBits)];
      const ByteWindow before = bits;
      block[kPlaces[static_cast<std::size_t>(k + s.offset1)]] = s.value1;
      block[kPlaces[static_cast<std::size_t>(k + s.offset2)]] = s.value2;
      k += s.advance;
      bits.drop(s.length);
      if (HWY_LIKELY(k < kBlockSize)) continue;
      if (HWY_LIKELY(k > kEndOfBlock && k < kEndOfBlock + kBlockSize)) return k - kEndOfBlock;
      if (k == kBlockSize) return k;
      // No whole symbol, a second one that belongs to the next block, or a run that is too long.
      // Copies: what has an address does not stay in registers.
      ByteWindow slow = before;
      int slow_k = k - s.advance;
      if (!slow_ac(slow, table.symbols, block, slow_k, wide)) return 0;
      bits = slow;
      k = slow_k;
      if (k >= kBlockSize) return k == kBlockSize ? k : k - kEndOfBlock;
      break;
    }
  }
}

inline bool decode_run(const DecodeRunArgs& a) {
  const ScanLayout& layout = *a.layout;
  ByteWindow bits = *a.source;
  // The window may be 8 bytes ahead.
  const std::uint8_t* const limit = a.end + 8;
  CoefficientRun& run = *a.run;
  const std::uint64_t* start = a.starts;
  for (int m = 0; m < a.mcus; ++m)
    for (int i = 0; i < layout.blocks_per_mcu; ++i) {
      const CoefficientRun::Place& place = run.place[i];
      const int c = layout.block_component[i];
      const auto& component = layout.component[c];
      const auto in_row = static_cast<std::size_t>(m * place.h + place.x);
      const std::size_t index = static_cast<std::size_t>(place.row) + in_row;
      std::int16_t* block =
          run.coefficient +
          (static_cast<std::size_t>(place.row) + in_row / kVectorBlocks * kVectorBlocks) *
              kBlockSize +
          in_row % kVectorBlocks * 8;
      if (start != nullptr) bits = ByteWindow::at(a.bytes, *start++);
      bits.refill();
      const DcTable& dc_table = *a.dc[component.dc_table];
      const CountStep& s = dc_table.step[bits.window >> (64 - kDcStepBits)];
      std::int16_t diff = s.diff;
      if (HWY_LIKELY(s.length != 0)) {
        bits.drop(s.length);
      } else {
        ByteWindow slow = bits;  // as in decode_ac()
        if (!slow_dc(slow, dc_table.symbols, diff)) return false;
        bits = slow;
      }
      const auto dc = static_cast<std::int16_t>(a.dc_carry[c] + diff);
      a.dc_carry[c] = dc;
      if (start != nullptr && (a.dc_alone >> c & 1) != 0) {
        block[0] = dc;
        run.extent[index] = 1;
        continue;
      }
      bool wide = false;
      const int extent = decode_ac(bits, *a.ac[component.ac_table], block, wide);
      if (extent == 0 || bits.next > limit) return false;
      block[0] = dc;
      run.extent[index] = wide ? kWideBlock : static_cast<std::uint8_t>(extent);
    }
  if (start != nullptr) bits = ByteWindow::at(a.bytes, *start);
  *a.source = bits;
  return true;
}

inline std::uint8_t* unstuff(const std::uint8_t*& begin, const std::uint8_t* end,
                             std::uint8_t* out) {
  const D8 d;
  constexpr std::ptrdiff_t kStep = HWY_LANES(std::uint8_t);
  const V8 ff = hn::Set(d, 0xFF);
  const std::uint8_t* in = begin;
  while (end - in >= kStep) {
    const V8 bytes = hn::LoadU(d, in);
    hn::StoreU(bytes, d, out);
    const std::ptrdiff_t at = hn::FindFirstTrue(d, hn::Eq(bytes, ff));
    if (HWY_LIKELY(at < 0)) {
      in += kStep;
      out += kStep;
      continue;
    }
    in += at;
    out += at;
    if (in + 1 == end || in[1] != 0) {
      begin = in;
      return out;
    }
    in += 2;
    ++out;
  }
  for (; in < end; ++in) {
    if (*in == 0xFF) {
      if (in + 1 == end || in[1] != 0) break;
      *out++ = *in++;
    } else {
      *out++ = *in;
    }
  }
  begin = in;
  return out;
}

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

/// The first kRows rows of dequantised blocks, of which the transform to kEdge samples reads some;
/// the others are 0. False if the 16-bit transform would not be exact. kChecked: products may leave
/// 16 bits.
template <int kEdge, int kRows, bool kChecked>
HWY_INLINE bool dequantise_group(const std::int16_t* group, const DequantRows& dequant,
                                 V16 (&v)[8]) {
  const D16 d;
  const DU16 du;
  alignas(16) static constexpr std::int16_t kIsDc[8] = {-1};
  const V16 is_dc = hn::LoadDup128(d, kIsDc);
  VU16 sum = hn::Zero(du);
  V16 lost = hn::Zero(d);
  for (int y = 0; y < 8; ++y) {
    v[y] = hn::Zero(d);
    if (y >= kRows || !is_read<kEdge>(y)) continue;
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
  return HWY_LIKELY(nonzero_bytes(hn::BitCast(D8(), beyond)) == 0);
}

/// False if the 16-bit transform would not be exact; nothing is stored then.
template <int kRows, bool kChecked>
HWY_INLINE bool transform_group(const std::int16_t* group, const DequantRows& dequant,
                                std::uint8_t* out, std::int64_t stride) {
  V16 v[8];
  if (!dequantise_group<8, kRows, kChecked>(group, dequant, v)) return false;
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

/// Blocks of which only the DC is set.
HWY_INLINE void fill_flat(const std::int16_t* group, const DequantRows& dequant, std::uint8_t* out,
                          std::int64_t stride) {
  alignas(64) std::uint8_t row[kGroupWidth];
  for (int b = 0; b < kGroupBlocks; ++b) {
    const std::uint64_t sample = flat_sample(std::int32_t{group[8 * b]} * dequant.row[0][0]);
    const std::uint64_t eight = sample * 0x0101010101010101u;
    std::memcpy(row + 8 * b, &eight, sizeof eight);
  }
  for (int y = 0; y < 8; ++y) std::memcpy(out + y * stride, row, kGroupWidth);
}

/// reduced_idct() of arith/reduced_idct.hpp, as idct16(); test: ScaledDecode.
template <int kEdge, int kPass, int kRows>
HWY_INLINE void reduced_idct16(V16 (&v)[8]) {
  constexpr int kShift = kIdctShift<kPass> + (kEdge == 4 ? 1 : 2);
  constexpr auto k = [](std::uint32_t factor) { return static_cast<int>(factor); };
  const V32 half = hn::Set(D32(), 1 << (kShift - 1));
  const Wide round{half, half};
  if constexpr (kEdge == 4) {
    const Wide dc = combine(v[0], 1 << (kConstBits + 1), v[0], 0) + round;
    Wide even = combine(v[2], k(kFix1_847759065), v[2], 0);
    Wide inner = combine(v[1], k(kFix1_061594337), v[3], -k(kFix2_172734803));
    Wide outer = combine(v[1], k(kFix2_562915447), v[3], k(kFix0_899976223));
    if constexpr (kRows == 8) {
      even = combine(v[2], k(kFix1_847759065), v[6], -k(kFix0_765366865));
      inner = inner + combine(v[5], k(kFix1_451774981), v[7], -k(kFix0_211164243));
      outer = outer + combine(v[5], -k(kFix0_601344887), v[7], -k(kFix0_509795579));
    }
    const Wide even0 = dc + even, even1 = dc - even;
    v[0] = shift16<kShift>(even0 + outer);
    v[1] = shift16<kShift>(even1 + inner);
    v[2] = shift16<kShift>(even1 - inner);
    v[3] = shift16<kShift>(even0 - outer);
  } else {
    constexpr int kHalfOne = 1 << (kConstBits + 1);  // twice that has no place in 16 bits
    const Wide dc = combine(v[0], kHalfOne, v[0], kHalfOne) + round;
    Wide odd = combine(v[1], k(kFix3_624509785), v[3], -k(kFix1_272758580));
    if constexpr (kRows == 8)
      odd = odd + combine(v[5], k(kFix0_850430095), v[7], -k(kFix0_720959822));
    v[0] = shift16<kShift>(dc + odd);
    v[1] = shift16<kShift>(dc - odd);
  }
}

/// Samples of a group; `out` holds kEdge * kEdge of each block.
template <int kEdge, int kRows>
HWY_INLINE bool reduce_group(const std::int16_t* group, const DequantRows& dequant,
                             std::uint8_t* out) {
  const D16 d;
  V16 v[8];
  // A first pass gives at most 4 * 1.2815 times the sum: less than in idct16().
  if (!dequantise_group<kEdge, kRows, true>(group, dequant, v)) return false;
  reduced_idct16<kEdge, 1, kRows>(v);
  for (int y = kEdge; y < 8; ++y) v[y] = hn::Zero(d);
  transpose(v);
  reduced_idct16<kEdge, 2, 8>(v);
  // Low 10 bits, as in limit_sample(); 128 bits hold the rows of a block, one after another.
  for (int x = 0; x < kEdge; ++x) v[x] = hn::ShiftRight<6>(hn::ShiftLeft<6>(v[x]));
  const D32 d32;
  const V16 first = hn::InterleaveLower(d, v[0], v[1]);
  V16 low = first, high = first;
  if constexpr (kEdge == 4) {
    const V32 second = hn::BitCast(d32, hn::InterleaveLower(d, v[2], v[3]));
    low = hn::BitCast(d, hn::InterleaveLower(d32, hn::BitCast(d32, first), second));
    high = hn::BitCast(d, hn::InterleaveUpper(d32, hn::BitCast(d32, first), second));
  }
  alignas(64) std::uint8_t samples[kGroupWidth * 2];
  hn::Store(hn::Xor(pack_signed(low, high), hn::Set(D8(), 0x80)), D8(), samples);
  for (int b = 0; b < kGroupBlocks; ++b)
    std::memcpy(out + b * kEdge * kEdge, samples + 16 * b, kEdge * kEdge);
  return true;
}

/// A row of blocks at 1/2, 1/4 or 1/8.
template <int kEdge>
inline void reduce_row(const TransformRowArgs& a) {
  for (int b = 0; b < a.blocks; b += kGroupBlocks) {
    const std::int16_t* group = a.run->coefficient + std::size_t(a.first + b) * kBlockSize;
    const std::uint8_t* extents = a.run->extent + a.first + b;
    const int here = std::min(a.blocks - b, kGroupBlocks);
    int extent = extents[0];
    for (int j = 1; j < here; ++j) extent = std::max<int>(extent, extents[j]);
    std::uint8_t samples[kGroupBlocks * kEdge * kEdge];
    bool done = false;
    if constexpr (kEdge > 1) {
      if (extent <= 10)
        done = reduce_group<kEdge, 4>(group, *a.dequant, samples);
      else if (extent <= kBlockSize)
        done = reduce_group<kEdge, 8>(group, *a.dequant, samples);
    }
    for (int j = 0; j < here && !done; ++j)
      reduce_block<kEdge, std::uint64_t>(
          [&](int y, int x) {
            return std::int32_t{group[y * kGroupWidth + 8 * j + x]} * a.dequant->row[y][x];
          },
          [&](int y, int x, std::uint8_t sample) {
            samples[(j * kEdge + y) * kEdge + x] = sample;
          });
    const int rows = std::min(a.rows, kEdge);
    for (int j = 0; j < here; ++j) {
      const int x0 = (b + j) * kEdge, columns = std::min(kEdge, a.columns - x0);
      for (int y = 0; y < rows && columns > 0; ++y) {
        const std::uint8_t* const from = samples + (j * kEdge + y) * kEdge;
        if (columns == kEdge)
          std::memcpy(a.out + x0 + y * a.stride, from, kEdge);
        else
          std::memcpy(a.out + x0 + y * a.stride, from, static_cast<std::size_t>(columns));
      }
    }
  }
}

inline void transform_row(const TransformRowArgs& a) {
  if (a.shrink == 1) return reduce_row<4>(a);
  if (a.shrink == 2) return reduce_row<2>(a);
  if (a.shrink == 3) return reduce_row<1>(a);
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

/// A walk before some codeword.
struct CountCursor {
  std::uint64_t bit = 0;
  const CountCycle::Place* place = nullptr;
  std::uint64_t index = kCountIndex;  ///< and the zig-zag index of the codeword; 0: DC
  std::uint64_t blocks = 0, diffs = 0;
  std::uint64_t* starts = nullptr;
};
HWY_INLINE CountCursor cursor_at(const CountCycle& cycle, std::uint64_t bit, int block) {
  CountCursor cursor;
  cursor.bit = bit;
  cursor.place = cycle.before(block);
  return cursor;
}
HWY_INLINE bool is_at_mcu(const CountCycle& cycle, const CountCursor& c) {
  return c.place == cycle.place;
}

HWY_INLINE std::uint64_t bits_at(const std::uint8_t* bytes, std::uint64_t bit) {
  std::uint64_t word;
  std::memcpy(&word, bytes + (bit >> 3), sizeof word);
  return __builtin_bswap64(word) << (bit & 7);
}

/// One codeword of any length and what it leads to; `bits` 0: it is wrong.
struct CountedSymbol {
  int bits;
  std::int32_t diff;
  std::uint32_t k;  ///< kBlockSize behind EOB
};
/// By value: a cursor whose address is taken would not stay in registers.
HWY_NOINLINE CountedSymbol count_symbol(std::uint64_t window, const CountCycle::Place& place,
                                        std::uint32_t k) {
  const DecodedSymbol symbol =
      decode_symbol(*place.symbols, static_cast<std::uint32_t>(window >> 48));
  if (symbol.bits == 0) return {};
  const int run = symbol.value >> 4, ssss = symbol.value & 15;
  const int bits = symbol.bits + ssss;
  if (k == 0) {
    const auto appended = static_cast<std::uint32_t>((window << symbol.bits >> 1) >> (63 - ssss));
    return {bits, extend(appended, ssss), 1};
  }
  if (ssss == 0 && run != 15) return {bits, 0, kBlockSize};
  k += static_cast<std::uint32_t>(run) + 1;
  return k <= kBlockSize ? CountedSymbol{bits, 0, k} : CountedSymbol{};
}

/// A step from the table, or one codeword; `window` are the bits at the cursor. False: wrong bits,
/// and nothing moves. kStarts: CountWalk::starts in place of its sums.
template <bool kStarts = false>
HWY_INLINE bool count_step(const std::uint8_t* bytes, CountCursor& c, std::uint64_t& window,
                           std::uint64_t mask = 0) {
  const CountCycle::Place& place = *c.place;
  const CountStep step = place.steps[window >> (64 - kCountBits)];
  std::uint64_t index = c.index + step.advance;
  std::int64_t diff = step.diff;
  std::uint64_t bit = c.bit + step.length, next = window << step.length;
  if (HWY_UNLIKELY((index & kCountLook) != 0)) {
    const CountedSymbol symbol = count_symbol(bits_at(bytes, c.bit), place,
                                              static_cast<std::uint32_t>(c.index - kCountIndex));
    if (symbol.bits == 0) return false;
    index = symbol.k == kBlockSize ? kCountEnds : kCountIndex + symbol.k;
    diff = symbol.diff;
    bit = c.bit + static_cast<std::uint64_t>(symbol.bits);
    next = bits_at(bytes, bit);
  }
  window = next;
  c.bit = bit;
  if constexpr (kStarts)  // the last step of a block stays
    c.starts[(c.blocks + 1) & mask] = bit;
  else
    c.diffs += static_cast<std::uint64_t>(diff) << place.diff_shift;
  // Without a branch, which would be mispredicted once a block.
  const std::uint64_t ends = index / kCountEnds;
  c.place = place.next[ends];
  c.index = (index & (ends - 1)) | kCountIndex;
  c.blocks += ends;
  return true;
}

/// To the end of the block. False: wrong bits, or they end.
template <bool kStarts = false>
HWY_INLINE bool count_block(const std::uint8_t* bytes, std::uint64_t end_bit, CountCursor& c,
                            std::uint64_t mask = 0) {
  const std::uint64_t blocks = c.blocks;
  do {
    std::uint64_t window = bits_at(bytes, c.bit);
    if (!count_step<kStarts>(bytes, c, window, mask)) return false;
  } while (c.blocks == blocks);
  return c.bit <= end_bit;
}

/// Advances all walks together until one is near its stop: while one waits for its table, the
/// others go on.
template <int kWalks, bool kStarts>
HWY_NOINLINE bool count_together(const CountWalkArgs& a, CountCursor* cursors,
                                 CountWalk* const* walks) {
  const std::uint8_t* const bytes = a.bytes;
  const std::uint64_t mask = a.mask;
  constexpr int kSteps = 2;  // in 57 bits of a window
  static_assert(kSteps * kMostCountStepBits <= 57);
  CountCursor c[kWalks];
  std::copy_n(cursors, kWalks, c);
  bool sound = true;
  for (;;) {
    std::uint64_t rounds = ~std::uint64_t{0};
    for (int w = 0; w < kWalks; ++w)
      rounds = std::min(rounds, (std::max(walks[w]->stop, c[w].bit) - c[w].bit) / 64);
    if (rounds == 0 || !sound) break;
    for (; rounds > 0 && sound; --rounds)
#pragma GCC unroll 4
      for (int w = 0; w < kWalks; ++w) {  // by a copy, which stays in registers
        CountCursor cursor = c[w];
        std::uint64_t window = bits_at(bytes, cursor.bit);
#pragma GCC unroll 2
        for (int s = 0; s < kSteps; ++s) sound &= count_step<kStarts>(bytes, cursor, window, mask);
        c[w] = cursor;
      }
  }
  std::copy_n(c, kWalks, cursors);
  return sound;
}

/// Takes one walk alone to the first start of an MCU at its stop or behind it.
template <bool kStarts>
HWY_INLINE void finish_walk(const CountWalkArgs& a, CountCursor& cursor, CountWalk& walk) {
  walk.sound = true;
  while (walk.sound && (cursor.bit < walk.stop || !is_at_mcu(*a.cycle, cursor)))
    walk.sound = count_block<kStarts>(a.bytes, a.end_bit, cursor, a.mask);
  walk.end = cursor.bit;
  walk.mcus = static_cast<std::int64_t>(cursor.blocks) / a.cycle->blocks;
  walk.diffs = cursor.diffs;
}

template <bool kStarts>
inline void count_mcus_of(const CountWalkArgs& a) {
  CountCursor cursors[kCountWalks];
  CountWalk* walks[kCountWalks];
  int count = a.walks;
  for (int w = 0; w < count; ++w) {
    walks[w] = a.walk + w;
    cursors[w] = cursor_at(*a.cycle, walks[w]->begin, 0);
    cursors[w].starts = walks[w]->starts;
    if constexpr (kStarts) cursors[w].starts[0] = cursors[w].bit;
  }
  while (count > 0) {
    const bool sound = count == 4   ? count_together<4, kStarts>(a, cursors, walks)
                       : count == 3 ? count_together<3, kStarts>(a, cursors, walks)
                       : count == 2 ? count_together<2, kStarts>(a, cursors, walks)
                                    : count_together<1, kStarts>(a, cursors, walks);
    int left = 0;
    for (int w = 0; w < count; ++w) {
      if (!sound || cursors[w].bit + 64 > walks[w]->stop) {
        finish_walk<kStarts>(a, cursors[w], *walks[w]);
        continue;
      }
      cursors[left] = cursors[w];
      walks[left++] = walks[w];
    }
    count = left;
  }
}

inline void count_mcus(const CountWalkArgs& a) {
  return a.mask == 0 ? count_mcus_of<false>(a) : count_mcus_of<true>(a);
}

/// Passes bits that are no code, too: a guess often begins inside a block, and may find the
/// codewords only behind such bits.
HWY_INLINE void pass_block(const std::uint8_t* bytes, std::uint64_t end_bit, CountCursor& c) {
  if (count_block(bytes, end_bit, c)) return;
  ++c.bit;
  c.place = c.place->next[1];
  c.index = kCountIndex;
}

/// Walks from guesses that have met before the same block go on as one.
inline std::uint64_t find_mcu(const CountCycle& cycle, const std::uint8_t* bytes,
                              std::uint64_t end_bit, std::uint64_t from, std::uint64_t bit) {
  struct Guess {
    CountCursor cursor;
    int met = 1;
  };
  Guess guesses[kMaxBlocksPerMcu];
  int count = cycle.blocks;
  for (int g = 0; g < count; ++g) guesses[g] = {cursor_at(cycle, from, g), 1};
  const auto is_behind = [](const Guess& a, const Guess& b) { return a.cursor.bit < b.cursor.bit; };
  while (count > 1) {
    Guess& last = *std::min_element(guesses, guesses + count, is_behind);
    if (last.cursor.bit >= bit) break;
    pass_block(bytes, end_bit, last.cursor);
    bool gone = false;
    for (int g = 0; g < count && !gone; ++g) {
      Guess& other = guesses[g];
      gone = &other != &last && other.cursor.bit == last.cursor.bit &&
             other.cursor.place == last.cursor.place;
      if (gone) other.met += last.met;
    }
    if (gone) last = guesses[--count];
  }
  const auto met_fewer = [](const Guess& a, const Guess& b) { return a.met < b.met; };
  CountCursor& best = std::max_element(guesses, guesses + count, met_fewer)->cursor;
  while (best.bit <= end_bit && (best.bit < bit || !is_at_mcu(cycle, best)))
    pass_block(bytes, end_bit, best);
  return best.bit;
}

/// Zig-zag bits of the bits of each row, without the DC's.
constexpr auto make_zigzag_bits() {
  std::array<std::array<std::uint64_t, 256>, 8> bits{};
  for (std::size_t k = 1; k < kBlockSize; ++k)
    for (std::size_t row = 0; row < 256; ++row)
      if ((row >> kNaturalOfZigzag[k] % 8 & 1) != 0)
        bits[kNaturalOfZigzag[k] / 8][row] |= std::uint64_t{1} << k;
  return bits;
}
inline constexpr auto kZigzagBits = make_zigzag_bits();

inline void store_row(const StoreRowArgs& a) {
  const D16 d;
  for (std::int32_t first = 0; first < a.blocks; first += kGroupBlocks) {
    const std::int16_t* const group =
        a.run->coefficient + std::ptrdiff_t{a.first + first} * kBlockSize;
    std::uint64_t two_rows[4];  // 16 bits a block
    for (int i = 0; i < 4; ++i)
      two_rows[i] = nonzero_bytes(pack_signed(hn::Load(d, group + 2 * i * kGroupWidth),
                                              hn::Load(d, group + (2 * i + 1) * kGroupWidth)));
    for (int b = 0; b < std::min(kGroupBlocks, a.blocks - first); ++b) {
      std::uint64_t nonzero = 0;
      for (std::size_t i = 0; i < 4; ++i)
        nonzero |= kZigzagBits[2 * i][two_rows[i] >> 16 * b & 255] |
                   kZigzagBits[2 * i + 1][two_rows[i] >> (16 * b + 8) & 255];
      const std::int16_t* const in = group + b * kBlockEdge;
      const std::int64_t block = a.at + first + b;
      a.out->dc[block] = in[0];
      a.out->nonzero[block] = nonzero;
      if (nonzero == 0) continue;
      std::int16_t* const out = a.out->ac + block * kBlockSize;
      for (int y = 0; y < kBlockEdge; ++y)
        std::memcpy(out + y * kBlockEdge, in + y * kGroupWidth, kBlockEdge * sizeof *out);
      out[0] = 0;
    }
  }
}

constexpr DecodeKernels kDecodeKernels{kGroupBlocks, decode_run, transform_row, store_row,
                                       unstuff,      count_mcus, find_mcu};

}  // namespace zerorun::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // ZR_FAST_TARGET

#if HWY_ONCE
namespace zerorun::fast {

void fill_dequant_rows(const std::uint16_t* table, DequantRows& out) {
  out.checked = false;
  for (int i = 0; i < kBlockSize; ++i) {
    // libjpeg multiplies in 16 x 16 bits: an entry above 32767 counts as negative.
    const auto q = static_cast<std::int16_t>(table[i]);
    out.checked |= i > 0 && (q < 0 || q * 1023 > 32767);  // any DC: see wrap_dc()
    for (int copy = 0; copy < 4; ++copy) out.row[i / 8][8 * copy + i % 8] = q;
  }
}

const DecodeKernels& decode_kernels(InstructionSet target) {
  return ZR_KERNELS_OF(target, kDecodeKernels);
}

}  // namespace zerorun::fast
#endif
