// Huffman decoding of a run of MCUs, and unstuffing.
// SPDX-License-Identifier: MIT

#if defined(ZERORUN_FAST_DECODE_RUN_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ZERORUN_FAST_DECODE_RUN_INL_HPP
#undef ZERORUN_FAST_DECODE_RUN_INL_HPP
#else
#define ZERORUN_FAST_DECODE_RUN_INL_HPP
#endif

#include <array>
#include <cstring>

#include "codec/arith/symbol.hpp"
#include "codec/fast/decode_kernels.hpp"
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

/// A BitSource in registers.
struct BitTaker {
  const std::uint8_t* next;
  std::uint64_t window;
  int available;

  /// Afterwards at least 56 bits are available.
  HWY_INLINE void refill() {
    std::uint64_t word;
    std::memcpy(&word, next, sizeof word);
    window |= __builtin_bswap64(word) >> available;
    next += (63 - available) >> 3;
    available |= 56;
  }
  HWY_INLINE void drop(int bits) {
    window <<= bits;
    available -= bits;
  }
  /// 0..16 bits, which are consumed.
  HWY_INLINE std::uint32_t take(int bits) {
    const auto value = static_cast<std::uint32_t>((window >> 1) >> (63 - bits));
    drop(bits);
    return value;
  }
};

/// Decodes one AC symbol of any length at index k, and advances k, beyond 64 after EOB. False: the
/// bits are wrong.
HWY_NOINLINE bool slow_ac(BitTaker& bits, const HuffmanDecodeTable& table, std::int16_t* block,
                          int& k, bool& wide) {
  bits.refill();
  const DecodedSymbol symbol =
      decode_symbol(table, static_cast<std::uint32_t>(bits.window >> (64 - kMaxCodeBits)));
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
HWY_NOINLINE bool slow_dc(BitTaker& bits, const HuffmanDecodeTable& table, std::int16_t& diff) {
  const DecodedSymbol symbol =
      decode_symbol(table, static_cast<std::uint32_t>(bits.window >> (64 - kMaxCodeBits)));
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
HWY_INLINE int decode_ac(BitTaker& bits, const AcTable& table, std::int16_t* block, bool& wide) {
  for (int k = 1;; bits.refill()) {
#pragma GCC unroll 4
    for (int step = 0; step < kStepsPerRefill; ++step) {
      const AcStep& s = table.step[bits.window >> (64 - kAcStepBits)];
      const BitTaker before = bits;
      block[kPlaces[static_cast<std::size_t>(k + s.offset1)]] = s.value1;
      block[kPlaces[static_cast<std::size_t>(k + s.offset2)]] = s.value2;
      k += s.advance;
      bits.drop(s.length);
      if (HWY_LIKELY(k < kBlockSize)) continue;
      if (HWY_LIKELY(k > kEndOfBlock && k < kEndOfBlock + kBlockSize)) return k - kEndOfBlock;
      if (k == kBlockSize) return k;
      // No whole symbol, a second one that belongs to the next block, or a run that is too long.
      k -= s.advance;
      bits = before;
      if (!slow_ac(bits, table.symbols, block, k, wide)) return 0;
      if (k >= kBlockSize) return k == kBlockSize ? k : k - kEndOfBlock;
      break;
    }
  }
}

inline bool decode_run(const DecodeRunArgs& a) {
  const ScanLayout& layout = *a.layout;
  BitTaker bits{a.source->next, a.source->window, a.source->available};
  // The window may be 8 bytes ahead.
  const std::uint8_t* const limit = a.end + 8;
  CoefficientRun& run = *a.run;
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
      bits.refill();
      const DcTable& dc_table = *a.dc[component.dc_table];
      const DcStep& s = dc_table.step[bits.window >> (64 - kDcStepBits)];
      std::int16_t diff = s.diff;
      if (HWY_LIKELY(s.length != 0)) {
        bits.drop(s.length);
      } else if (!slow_dc(bits, dc_table.symbols, diff)) {
        return false;
      }
      const auto dc = static_cast<std::int16_t>(a.dc_carry[c] + diff);
      a.dc_carry[c] = dc;
      bool wide = false;
      const int extent = decode_ac(bits, *a.ac[component.ac_table], block, wide);
      if (extent == 0 || bits.next > limit) return false;
      block[0] = dc;
      run.extent[index] = wide ? kWideBlock : static_cast<std::uint8_t>(extent);
    }
  *a.source = {bits.next, bits.window, bits.available};
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

}  // namespace zerorun::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // ZR_FAST_TARGET

#endif  // per-target include guard
