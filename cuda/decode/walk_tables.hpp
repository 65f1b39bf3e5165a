// The code tables of the walks: what one look-up of the next bits gives. Host code too, without
// CUDA's headers, so that a test can run the algorithm anywhere.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/arith/host_device.hpp"
#include "codec/arith/zigzag.hpp"
#include "codec/syntax/huffman_code.hpp"
#include "cuda/base/pair_cycle.hpp"
#include "cuda/decode/tuning.hpp"

namespace zerorun {

/// The two tables of a pair.
inline constexpr int kDcSide = 0, kAcSide = 1;

/// A skip entry: how far one look-up passes some symbols of one block, with their appended bits.
///   bits 0-4    bits that the symbols take, at least 1
///   bits 5-7    (run, level) pairs among them: a DC, and AC levels other than 0
///   bits 8-21   the first symbol alone: 5 bits, then 1 of pairs, then 8 of indices
///   bits 23-31  zig-zag indices that they pass; kEndOfBlock and one index more if the last symbol
///               is EOB. kNoStep if the first codeword is longer than the index, or is none: adding
///               kNoStep to any index goes beyond the block's end.
///
/// Bits that are no codeword count as an EOB of one bit.
inline constexpr int kSkipPairShift = 5, kSkipFirstShift = 8, kSkipIndexShift = 23;
inline constexpr std::uint32_t kSkipBitsMask = 31, kSkipPairMask = 7;
inline constexpr std::uint32_t kEndOfBlock = 128, kNoStep = kBlockSize + 1;

ZR_HD std::uint32_t make_skip(std::uint32_t bits, std::uint32_t indices, std::uint32_t pairs) {
  return bits | pairs << kSkipPairShift | indices << kSkipIndexShift;
}
/// The first symbol alone, in 14 bits; 0 if there is none.
ZR_HD std::uint32_t first_of(std::uint32_t entry) { return entry >> kSkipFirstShift & 0x3FFF; }
/// A skip entry of one symbol in this form, and back.
ZR_HD std::uint32_t pack_first(std::uint32_t step) {
  return (step & 63) | step >> kSkipIndexShift << 6;
}
ZR_HD std::uint32_t unpack_first(std::uint32_t first) {
  return (first & 63) | first >> 6 << kSkipIndexShift;
}
/// Whether the last index plus an entry's indices goes beyond the block's end, or there is no
/// entry: then only the first symbol is to be taken.
ZR_HD bool goes_beyond(std::uint32_t last) { return (last & kBlockSize) != 0; }

/// An entry of the symbol tables: one symbol, or two of one block, with their appended bits.
///   bits 0-4    bits that they take
///   bits 5-8    SSSS of the second, whose appended bits are the last; 0 without a second
///   bits 10-14  length of the first codeword
///   bits 15-18  SSSS of the first
///   bits 20-23  RRRR of the first; 0 for a DC and for EOB
///   bits 24-31  zig-zag indices that they pass, less one: so much behind the index that is next
///               lies the last symbol's. kEndOfBlock more if that is EOB; kSymbolFault: no
///               codeword, which is passed as an EOB of one bit
///
/// Bits 9 and 19 are 0: the GPU shifts by a number's lowest 5 bits. The second codeword lies within
/// the index, and its level is not wide. kLongCode: the first codeword is longer than the index, or
/// there is none. goes_beyond() as with skip entries.
inline constexpr int kSecondSsssShift = 5, kCodeBitsShift = 10, kFirstSsssShift = 15,
                     kFirstRunShift = 20, kSymbolIndexShift = 24;
inline constexpr std::uint32_t kSymbolTakenMask = 31, kMostSecondSsss = 9;
inline constexpr std::uint32_t kLongCode = std::uint32_t{kBlockSize} << kSymbolIndexShift;
inline constexpr std::uint32_t kSymbolFault = kLongCode;

/// The codewords that are longer than the index are the last ones of a code (T.81 C.2). A photo at
/// q90 has one in 0.7 % of the steps of a walk. For so many of the last values of 16 bits, and so
/// nearly always for all of them, a table has the symbol.
inline constexpr std::uint32_t kLongSymbols = 2048;

/// The codes of a scan's pairs of tables, by side (DC, AC).
struct WalkCodes {
  HuffmanSpec of[2][kMaxTablePairs];
  bool operator==(const WalkCodes&) const = default;
};

/// In device memory, by side and pair. make_scan_tables() fills it.
struct WalkTables {
  std::uint32_t skip[2][kMaxTablePairs][1 << kSkipBits];
  std::uint32_t symbol[2][kMaxTablePairs][1 << kSymbolIndexBits];
  std::uint32_t long_symbol[2][kMaxTablePairs][kLongSymbols];  ///< for 0xFFFF, 0xFFFE, …
  HuffmanDecodeTable source[2][kMaxTablePairs];                ///< what the rest is made from
};

ZR_HD std::uint32_t taken_by(std::uint32_t entry) { return entry & kSymbolTakenMask; }
/// At its place in the entry.
ZR_HD std::uint32_t first_ssss(std::uint32_t entry) { return entry & 15u << kFirstSsssShift; }
ZR_HD bool has_first_level(std::uint32_t entry) { return first_ssss(entry) != 0; }
ZR_HD bool has_second_level(std::uint32_t entry) { return (entry & 15u << kSecondSsssShift) != 0; }
/// The most bits of a level that is not wide.
inline constexpr std::uint32_t kMostNarrowSsss = 9;

/// Masked before the shift, which is one instruction with the addition of its result.
ZR_HD std::uint32_t first_run(std::uint32_t entry) {
  std::uint32_t run = entry & 15u << kFirstRunShift;
#ifdef __CUDA_ARCH__
  asm("" : "+r"(run));
#endif
  return run >> kFirstRunShift;
}

/// The entry for a codeword alone, or for bits that are none.
ZR_HD std::uint32_t symbol_of(const DecodedSymbol& decoded, int side) {
  if (decoded.bits == 0)
    return 1 | 1u << kCodeBitsShift | kSymbolFault | kEndOfBlock << kSymbolIndexShift;
  const auto bits = static_cast<std::uint32_t>(decoded.bits);
  const auto value = static_cast<std::uint32_t>(decoded.value);
  const std::uint32_t ssss = value & 15;
  const bool is_eob = side == kAcSide && ssss == 0 && value >> 4 != 15;
  const std::uint32_t run = side == kDcSide || is_eob ? 0 : value >> 4;
  return (bits + ssss) | bits << kCodeBitsShift | ssss << kFirstSsssShift | run << kFirstRunShift |
         (is_eob ? kEndOfBlock : run) << kSymbolIndexShift;
}
/// What an entry has of its first symbol, if that is not EOB, as an entry of its own.
ZR_HD std::uint32_t first_alone(std::uint32_t entry) {
  const std::uint32_t first = entry & 0x3FFFu << kCodeBitsShift;
  const std::uint32_t taken = (entry >> kCodeBitsShift & 31) + (entry >> kFirstSsssShift & 15);
  return first | taken | first >> kFirstRunShift << kSymbolIndexShift;
}
/// The first symbol of any entry but kLongCode.
ZR_HD std::uint32_t first_symbol(std::uint32_t entry) {
  const std::uint32_t first = first_alone(entry);
  return taken_by(first) == taken_by(entry) ? entry : first;  // EOB is first only where it is alone
}
/// The symbol table's entry for the `kSymbolIndexBits` bits `index`, at a block's start (kDcSide)
/// or inside it.
ZR_HD std::uint32_t symbol_entry(const HuffmanDecodeTable& dc, const HuffmanDecodeTable& ac,
                                 int side, std::uint32_t index) {
  const auto length_of = [](std::uint32_t symbol) { return symbol >> kCodeBitsShift & 31; };
  const std::uint32_t bits = index << (kMaxCodeBits - kSymbolIndexBits);  // 16 bits
  const std::uint32_t first = symbol_of(decode_symbol(side == kDcSide ? dc : ac, bits), side);
  if ((first & kSymbolFault) != 0 || length_of(first) > kSymbolIndexBits) return kLongCode;
  const std::uint32_t taken = taken_by(first);
  if (first >> kSymbolIndexShift >= kEndOfBlock || taken >= kSymbolIndexBits) return first;
  const std::uint32_t second = symbol_of(decode_symbol(ac, bits << taken & 0xFFFF), kAcSide);
  const std::uint32_t ssss = second >> kFirstSsssShift & 15;
  const bool fits = (second & kSymbolFault) == 0 && taken + length_of(second) <= kSymbolIndexBits &&
                    ssss <= kMostSecondSsss;
  if (!fits) return first;
  const std::uint32_t indices = (second >> kSymbolIndexShift) + 1;
  return first + taken_by(second) + (ssss << kSecondSsssShift) + (indices << kSymbolIndexShift);
}
static_assert(kSymbolIndexBits + kMostSecondSsss <= kSymbolTakenMask);
static_assert(1 + (kMostSecondSsss + 1) >= kSymbolIndexBits, "wide levels leave no bits");

/// The symbol of the next 16 bits, for those that the other tables do not have.
ZR_HD std::uint32_t long_symbol_of(const WalkTables& tables, int side, std::uint32_t pair,
                                   std::uint32_t next16) {
  const std::uint32_t from_last = 0xFFFF - next16;
  return from_last < kLongSymbols
             ? tables.long_symbol[side][pair][from_last]
             : symbol_of(decode_long_symbol(tables.source[side][pair], next16), side);
}
/// One symbol's entry as a skip entry. A DC makes a pair even if it is 0.
ZR_HD std::uint32_t step_of(std::uint32_t symbol, bool is_dc) {
  const bool pair = has_first_level(symbol) || (is_dc && (symbol & kSymbolFault) == 0);
  return make_skip(taken_by(symbol), ((symbol & ~kSymbolFault) >> kSymbolIndexShift) + 1, pair);
}

/// The skip entry for the `kSkipBits` bits `index`, at a block's start (kDcSide) or inside it.
ZR_HD std::uint32_t skip_entry(const HuffmanDecodeTable& dc, const HuffmanDecodeTable& ac, int side,
                               std::uint32_t index) {
  const std::uint32_t bits = index << (kMaxCodeBits - kSkipBits);  // 16 bits
  std::uint32_t taken = 0, indices = 0, pairs = 0, first = 0;
  while (indices < kEndOfBlock && taken < kSkipBits) {
    const bool at_dc = side == kDcSide && first == 0;
    const DecodedSymbol symbol = decode_symbol(at_dc ? dc : ac, bits << taken & 0xFFFF);
    if (symbol.bits == 0 || taken + static_cast<std::uint32_t>(symbol.bits) > kSkipBits) break;
    const std::uint32_t step = step_of(symbol_of(symbol, at_dc ? kDcSide : kAcSide), at_dc);
    const std::uint32_t all_taken = taken + (step & kSkipBitsMask);
    const std::uint32_t all_indices = indices + (step >> kSkipIndexShift);
    const std::uint32_t all_pairs = pairs + (step >> kSkipPairShift & kSkipPairMask);
    if (all_taken > kSkipBitsMask || (all_indices & (kEndOfBlock - 1)) > kBlockSize ||
        all_pairs > kSkipPairMask)
      break;
    taken = all_taken;
    indices = all_indices;
    pairs = all_pairs;
    if (first == 0) first = step;
  }
  if (first == 0) return kNoStep << kSkipIndexShift;
  return make_skip(taken, indices, pairs) | pack_first(first) << kSkipFirstShift;
}

}  // namespace zerorun
