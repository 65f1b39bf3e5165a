// Code tables of the fast decoder: what one look-up of the next bits tells. Host code too, without
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
/// entry. Then only the first symbol is to be taken.
ZR_HD bool goes_beyond(std::uint32_t last) { return (last & kBlockSize) != 0; }

/// An entry of the symbol tables.
///   bits 0-4    length of the codeword
///   bits 5-9    bits that it takes, with the appended ones
///   bit 10      it makes a pair
///   bits 13-16  SSSS; bit 17 is 0
///   bits 24-31  RRRR (0 for a DC); kEndOfBlock for EOB; with kSymbolFault: no codeword, which is
///               passed as an EOB of one bit
///
/// 0: the codeword is longer than the index, or there is none.
inline constexpr int kSymbolTakenShift = 5, kSymbolRunShift = 24, kSymbolSsssShift = 13;
inline constexpr std::uint32_t kSymbolTakenMask = 31, kSymbolMakesPair = 1u << 10;
/// Added to any index it sets the bit of 64, as a run past the block's end does. EOB does not set
/// it.
inline constexpr std::uint32_t kSymbolFault = std::uint32_t{kBlockSize} << kSymbolRunShift;

/// The codewords that are longer than the index are the last ones of a code (T.81 C.2). They are
/// nearly always among the last kLongSymbols values of 16 bits.
inline constexpr std::uint32_t kLongSymbols = 2048;

/// In device memory, where make_walk_tables() fills it. The first dimension is the side (DC, AC),
/// the second the pair.
struct WalkTables {
  std::uint32_t skip[2][kMaxTablePairs][1 << kSkipBits];
  std::uint32_t symbol[2][kMaxTablePairs][1 << kSymbolIndexBits];
  /// What AC codewords mean that are longer than the index, for 0xFFFF, 0xFFFE, …: as first_of()
  /// gives it, and by pack_symbol(). 0: none begins those 16 bits.
  std::uint16_t last_step[kMaxTablePairs][kLastCodes], last_symbol[kMaxTablePairs][kLastCodes];
  std::uint32_t long_symbol[2][kMaxTablePairs][kLongSymbols];  ///< for 0xFFFF, 0xFFFE, …
  HuffmanDecodeTable source[2][kMaxTablePairs];                ///< in: the rest is made from it
};

static_assert(kLastCodes % 8 == 0 && offsetof(WalkTables, last_step) % 16 == 0 &&
                  offsetof(WalkTables, last_symbol) % 16 == 0,
              "copied by vectors");

/// The symbol table's entry for a codeword, or for bits that are none.
ZR_HD std::uint32_t symbol_of(const DecodedSymbol& decoded, int side) {
  if (decoded.bits == 0)
    return 1 | 1u << kSymbolTakenShift | kSymbolFault | kEndOfBlock << kSymbolRunShift;
  const auto bits = static_cast<std::uint32_t>(decoded.bits);
  const auto value = static_cast<std::uint32_t>(decoded.value);
  const std::uint32_t ssss = value & 15;
  std::uint32_t run = side == kDcSide ? 0 : value >> 4;
  if (side == kAcSide && ssss == 0 && run != 15) run = kEndOfBlock;
  const bool pair = side == kDcSide || ssss != 0;
  return bits | (bits + ssss) << kSymbolTakenShift | (pair ? kSymbolMakesPair : 0) |
         ssss << kSymbolSsssShift | run << kSymbolRunShift;
}
/// Bits that a symbol takes, with the appended ones.
ZR_HD std::uint32_t taken_by(std::uint32_t symbol) {
  return symbol >> kSymbolTakenShift & kSymbolTakenMask;
}
/// A symbol that is a codeword, in 16 bits, which are never 0, and back.
///   bits 0-4 length of the codeword, 5-8 SSSS, 9-12 RRRR, 13 it makes a pair, 15 EOB
ZR_HD std::uint16_t pack_symbol(std::uint32_t symbol) {
  return static_cast<std::uint16_t>((symbol & 31) | (symbol >> kSymbolSsssShift & 15) << 5 |
                                    (symbol >> kSymbolRunShift & 15) << 9 |
                                    (symbol & kSymbolMakesPair) << 3 | (symbol >> 31) << 15);
}
ZR_HD std::uint32_t unpack_symbol(std::uint32_t packed) {
  static_assert(kEndOfBlock << kSymbolRunShift == 1u << 31 && kSymbolMakesPair == 1u << 10);
  const std::uint32_t bits = packed & 31, ssss = packed >> 5 & 15;
  return bits | (bits + ssss) << kSymbolTakenShift | (packed >> 3 & kSymbolMakesPair) |
         ssss << kSymbolSsssShift | (packed >> 9 & 15) << kSymbolRunShift | packed >> 15 << 31;
}
/// The symbol of the next 16 bits, for those that the other tables do not have.
ZR_HD std::uint32_t long_symbol_of(const WalkTables& tables, int side, std::uint32_t pair,
                                   std::uint32_t next16) {
  const std::uint32_t from_last = 0xFFFF - next16;
  return from_last < kLongSymbols
             ? tables.long_symbol[side][pair][from_last]
             : symbol_of(decode_long_symbol(tables.source[side][pair], next16), side);
}
/// A symbol as a skip entry.
ZR_HD std::uint32_t step_of(std::uint32_t symbol) {
  return make_skip(taken_by(symbol), ((symbol & ~kSymbolFault) >> kSymbolRunShift) + 1,
                   (symbol & kSymbolMakesPair) != 0);
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
    const std::uint32_t step = step_of(symbol_of(symbol, at_dc ? kDcSide : kAcSide));
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

/// For WalkTables::last_step and last_symbol.
ZR_HD std::uint16_t make_last_step(const HuffmanDecodeTable& ac, std::uint32_t from_last) {
  const std::uint32_t symbol = symbol_of(decode_symbol(ac, 0xFFFF - from_last), kAcSide);
  const bool is_long = (symbol & kSymbolFault) == 0 && (symbol & 31) > kSkipBits;
  return is_long ? static_cast<std::uint16_t>(pack_first(step_of(symbol))) : std::uint16_t{0};
}
ZR_HD std::uint16_t make_last_symbol(const HuffmanDecodeTable& ac, std::uint32_t from_last) {
  const std::uint32_t symbol = symbol_of(decode_symbol(ac, 0xFFFF - from_last), kAcSide);
  const bool is_long = (symbol & kSymbolFault) == 0 && (symbol & 31) > kSymbolIndexBits;
  return is_long ? pack_symbol(symbol) : std::uint16_t{0};
}

}  // namespace zerorun
