// One thread walks over a subsequence of Huffman-coded bits. It either skips it (where does it end,
// how many blocks and pairs has it?) or decodes it. Host code too, without CUDA's headers, so that
// a test can run the algorithm anywhere.
//
// A subsequence is a run of kSubsequenceBits bits of a restart interval, counted from the
// interval's start. Its codewords are those that start in it.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/arith/host_device.hpp"
#include "codec/arith/zigzag.hpp"
#include "codec/syntax/huffman_code.hpp"
#include "cuda/base/kernel_numbers.hpp"
#include "cuda/decode/tuning.hpp"

namespace zerorun {

// The code tables: what one look-up of the next bits gives.

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
/// Returns an entry with only the first symbol of `entry`, if that is not EOB.
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

// The walk.

static_assert(kSubsequenceBits / 32 % 2 == 1);
inline constexpr std::uint32_t kSubsequenceBytes = kSubsequenceBits / 8;
/// No step and no symbol takes more bits than this.
inline constexpr std::uint32_t kMostStepBits = 31;

/// The number of an interval's first subsequence, from its first clean byte. So no prefix sum is
/// needed, but the last number of an interval may belong to no subsequence.
ZR_HD std::uint32_t first_subsequence_of(std::uint32_t interval, std::uint32_t first_byte) {
  return first_byte / kSubsequenceBytes + interval;
}

/// The decoder's state before a codeword: bits from the subsequence's start (0..30), block of the
/// MCU modulo the period of the tables, next zig-zag index (0: the DC).
struct WalkState {
  std::uint32_t overshoot, phase, k;
};
ZR_HD std::uint32_t pack(const WalkState& s) { return s.overshoot | s.phase << 5 | s.k << 9; }
ZR_HD WalkState unpack_walk_state(std::uint32_t packed) {
  return {packed & 31, packed >> 5 & 15, packed >> 9};
}

struct WordPair {
  std::uint32_t first, second;
};
/// The 32 bits that begin at bit `bit` (modulo 32) of the first word.
ZR_HD std::uint32_t window_of(const WordPair& words, std::uint32_t bit) {
#ifdef __CUDA_ARCH__
  return __funnelshift_l(words.second, words.first, bit);
#else
  return static_cast<std::uint32_t>((std::uint64_t{words.first} << 32 | words.second) >>
                                    (32 - bit % 32));
#endif
}

/// The bits in front of a walk: the next 32, and two words behind the one with its bit. A step into
/// another word loads one more, long before its bits are needed. `Bits`: place(bit) of the word
/// with a bit; take(place) gives the word there and goes on; shift_if(c, words, place) does
/// words = {words.second, take(place)} if c is not 0.
template <typename Bits>
struct BitFront {
  std::uint32_t bit, window;
  WordPair behind;
  typename Bits::Place place;  ///< of the word after those two

  ZR_HD BitFront(const Bits& bits, std::uint32_t at) : bit(at), place(bits.place(at)) {
    const std::uint32_t own = Bits::take(place);
    behind.first = Bits::take(place);
    behind.second = Bits::take(place);
    window = window_of({own, behind.first}, bit);
  }
  /// The window behind `count` bits more; only the lowest 5 bits of `count` count.
  ZR_HD std::uint32_t window_behind(std::uint32_t count) const {
    return window_of({window, window_of(behind, bit)}, count);
  }
  /// Passes less than 32 bits, to window_behind() them. The result is for read_ahead().
  ZR_HD std::uint32_t pass(std::uint32_t count, std::uint32_t window_there) {
    window = window_there;
    const std::uint32_t before = bit;
    bit += count;
    return (bit ^ before) & 32;
  }
  ZR_HD void read_ahead(std::uint32_t passed) { Bits::shift_if(passed, behind, place); }
};

/// Whether nothing but an interval's padding (T.81 F.1.2.3) is left: less than a byte of ones.
/// No codeword is all ones.
ZR_HD bool is_padding(std::uint32_t next32, std::uint32_t bits_left) {
  return bits_left < 8 && (next32 | (0xFFFFFFFFu >> bits_left)) == 0xFFFFFFFFu;
}

/// Numbers of what a walk passed.
struct WalkTally {
  std::uint32_t blocks, pairs;  ///< `blocks`: those that end in the subsequence
};

/// The most pairs in `bits` bits of whole blocks. A pair of AC takes at least two bits, its
/// codeword and its level; that of a DC may take one, but only a full block, 64 pairs in 127 bits,
/// has no EOB for another.
constexpr std::uint64_t most_pairs(std::uint64_t bits) {
  return bits * kBlockSize / (2 * kBlockSize - 1);
}

/// Positions in bits: the next subsequence begins at `stop`, the interval ends at `end`.
struct WalkSpan {
  std::uint32_t stop, end;
};

/// Position after bits that are no codeword: no step has to look for them.
inline constexpr std::uint32_t kGaveUp = 1u << 30;

/// A block of the MCU as a walk sees it: indices or addresses, by the walk's `Tables`.
struct BlockTables {
  std::uint32_t dc;    ///< table
  std::uint32_t next;  ///< the block that follows
};

/// Adds the lowest byte of a word, by one instruction. For CTAs of one dimension: a literal in
/// place of blockDim.y would be moved to a register each time.
ZR_HD std::uint32_t add_low_byte(std::uint32_t word, std::uint32_t number) {
#ifdef __CUDA_ARCH__
  return __dp4a(word, blockDim.y, number);
#else
  return number + (word & 255);
#endif
}

/// A walk before a codeword. The time from one step to the next is what counts: the next entry is
/// loaded as soon as its place is known, before pairs are stored.
template <int kIndexBits, typename Bits, typename Tables>
struct Cursor : BitFront<Bits> {
  const Tables& tables;
  std::uint32_t table, ac;  ///< table of the next codeword; of the block's AC
  std::uint32_t next_block;
  BlockTables next;     ///< of next_block
  std::uint32_t entry;  ///< of the next codeword

  ZR_HD Cursor(const Bits& bits, const Tables& of_scan, std::uint32_t at, std::uint32_t phase,
               std::uint32_t k)
      : BitFront<Bits>(bits, at), tables(of_scan) {
    const BlockTables block = tables.block(tables.place(phase));
    ac = tables.ac_of(block.dc);
    table = k == 0 ? block.dc : ac;
    next_block = block.next;
    look_up();
  }
  /// Passes the symbols of an entry, which has their number of bits in its lowest 5.
  ZR_HD void step(std::uint32_t passes, bool block_ends) {
    const std::uint32_t passed = this->pass(passes & 31, this->window_behind(passes));
    table = block_ends ? next.dc : ac;
    ac = block_ends ? tables.ac_of(next.dc) : ac;
    next_block = block_ends ? next.next : next_block;
    look_up();
    this->read_ahead(passed);
  }
  /// The symbol of a codeword that the tables do not have.
  ZR_HD std::uint32_t long_symbol() {
    const std::uint32_t symbol = tables.long_symbol(table, this->window >> 16);
    if ((symbol & kSymbolFault) != 0) this->bit = kGaveUp;
    return symbol;
  }

 private:
  ZR_HD void look_up() {
    entry = tables.look_up(table, this->window >> (32 - kIndexBits));
    next = tables.block(next_block);
  }
};

/// Steps up to the first codeword at `stop` or after it, or to the interval's end if only padding
/// is left. A step gets a position that no second symbol may pass, and returns whether a block
/// ends.
template <typename Cursor, typename Step>
ZR_HD void walk_subsequence(const WalkSpan& span, Cursor& cursor, const Step& step) {
  // As long as no step can reach the interval's padding, nothing needs to check for it.
  const std::uint32_t near =
      kept(span.stop + kMostStepBits + 8 < span.end ? span.stop : span.end - kMostStepBits - 8);
  while (static_cast<std::int32_t>(cursor.bit) < static_cast<std::int32_t>(near)) step(near);
  while (cursor.bit < span.stop)
    if (step(span.stop) && cursor.bit < span.end &&
        is_padding(cursor.window, span.end - cursor.bit))
      cursor.bit = span.end;
}

/// Walks by the steps of the skip tables, and moves `bit`, `phase` and `k`. Two walks that meet
/// before some codeword meet before a step at the end of that block at the latest.
///
/// A walk that comes to bits that are no codeword was a wrong guess. It goes to `stop` as to the
/// start of an MCU, where all such walks meet: else a page of text at q97 with optimal tables would
/// need 12.8 walks a subsequence instead of 9.2. Decoding finds runs past a block's end.
///
/// `Bits`: as for BitFront; a few words after the last bit may be read. `Tables`: place(phase) of a
/// block, block(place), phase_before(place) (of the block before), ac_of(DC table);
/// look_up(table, index) gives a skip entry, and long_symbol(table, 16 bits) a symbol.
template <typename Bits, typename Tables>
ZR_HD WalkTally skip_subsequence(const Bits& bits, const Tables& tables, const WalkSpan& span,
                                 std::uint32_t& bit, std::uint32_t& phase, std::uint32_t& k) {
  static_assert(kSkipBitsMask == 31 && kSkipPairShift == 5 && kSkipFirstShift == 8);
  Cursor<kSkipBits, Bits, Tables> cursor(bits, tables, bit, phase, k);
  // `sum` is of the entries' lowest bytes: bits, and 32 times the pairs.
  std::uint32_t blocks = 0, sum = bit,
                last = k - 1;  // before the DC there is none: adding 1 gives 0
  walk_subsequence(span, cursor, [&](std::uint32_t) {
    std::uint32_t entry = cursor.entry, after = last + (entry >> kSkipIndexShift);
    if (goes_beyond(after)) {
      if (const std::uint32_t first = first_of(entry); first != 0) {
        entry = unpack_first(first);
      } else {
        const std::uint32_t before = cursor.bit;
        entry = step_of(cursor.long_symbol(), last + 1 == 0);
        sum += cursor.bit - before;  // unless it gives up, 0
      }
      after = last + (entry >> kSkipIndexShift);
    }
    const bool ends = after >= kBlockSize - 1;
    sum = add_low_byte(entry, sum);
    cursor.step(entry, ends);
    last = ends ? 0xFFFFFFFFu : after;
    blocks += last >> 31;  // under a condition the loop copies the place of the bits twice
    return ends;
  });
  // The walk may have gone past padding, of at most 7 bits, which are not in `sum`.
  const std::uint32_t pairs = (sum + 7 - cursor.bit) >> kSkipPairShift;
  const bool gave_up = cursor.bit >= kGaveUp;
  bit = gave_up ? span.stop : cursor.bit;
  phase = gave_up ? 0 : tables.phase_before(cursor.next_block);
  k = last + 1;
  return {blocks, pairs};
}

// The faults that the kernels find, as bits. After kFaultUnsettled the exhaustive strategy is
// tried; with any other the CPU decodes the scan.
inline constexpr std::uint32_t kFaultRestarts = 1;    ///< RSTm out of order, or too many or few
inline constexpr std::uint32_t kFaultCode = 2;        ///< no codeword; data or blocks end early
inline constexpr std::uint32_t kFaultSync = 4;        ///< a subsequence does not end where the next
                                                      ///< one was found to begin
inline constexpr std::uint32_t kFaultCount = 8;       ///< an interval's blocks, or bytes left over
inline constexpr std::uint32_t kFaultUnsettled = 16;  ///< the starts of some were not found

/// A (run, level) pair as the kernels pass it on.
///   bits 0-5   zig-zag index
///   bits 6-15  level, or kWideLevel for one that needs more bits: it is in an array of its own
inline constexpr std::uint32_t kPairIndexMask = 63;
inline constexpr int kPairLevelShift = 6;
inline constexpr std::int32_t kWideLevel = -512;

ZR_HD bool is_wide(std::int32_t level) { return level <= kWideLevel || level >= -kWideLevel; }
static_assert(-kWideLevel == 1 << kMostNarrowSsss && kMostSecondSsss <= kMostNarrowSsss);
/// `index` is below 64 unless the scan has a fault.
ZR_HD std::uint32_t pair_word(std::uint32_t index, std::int32_t level) {  // its low half
  return (static_cast<std::uint32_t>(level) << kPairLevelShift) + index;
}
ZR_HD std::uint16_t pack_pair(std::uint32_t index, std::int32_t level) {
  return static_cast<std::uint16_t>(pair_word(index, level));
}
ZR_HD std::int32_t level_of(std::uint16_t pair) {
  return static_cast<std::int16_t>(pair) >> kPairLevelShift;
}

/// The level whose appended bits `appended` begins with; the lowest 5 bits of `ssss` are their
/// number.
ZR_HD std::int32_t extend_level(std::uint32_t appended, std::uint32_t ssss) {
  // T.81 F.2.2.1: if the first bit is 0, filling up with ones gives the value minus 1.
  const std::uint32_t sign = (appended >> 31) - 1;
  return static_cast<std::int32_t>(window_of({sign, appended}, ssss) - sign);
}

/// What a symbol of a step makes. `index` and `level` count only if there is a pair; but `level` is
/// 0 for a step's first symbol without one.
struct WalkPair {
  bool exists;
  std::uint32_t index;
  std::int32_t level;
  std::uint32_t ssss = 0;  ///< of a step's first symbol, at its place in the entry
};

/// The symbols of `entry` as pairs. They begin in `window` and at index `k`, and the last one is at
/// index `after`.
struct StepPairs {
  WalkPair first, second;  ///< the second one's level is not wide

  ZR_HD StepPairs(std::uint32_t window, std::uint32_t entry, bool at_dc, std::uint32_t k,
                  std::uint32_t after)
      : first{at_dc || has_first_level(entry), k + first_run(entry),
              extend_level(window << (entry >> kCodeBitsShift & 31), entry >> kFirstSsssShift),
              first_ssss(entry)},
        second{has_second_level(entry), after,
               // They are the last ones that the symbols take.
               extend_level(window << ((entry - (entry >> kSecondSsssShift)) & 31),
                            entry >> kSecondSsssShift)} {}
};

/// The numbers of the next block and pair to be stored, as their sink counts them.
struct PairTarget {
  std::uint32_t block, pair;  ///< at the next codeword; it may be inside the block
};

/// Stores the pairs of the symbols that skip_subsequence() counted; moves `target`, `bit`, `phase`
/// and `k`; returns faults. Of two symbols on both sides of `stop` it takes the first alone.
///
/// `Tables`: as there, but look_up() gives a symbol entry. `Sink`:
/// kBlockUnits, by which it counts blocks, block_starts_if(c, block, pair), put(number, first,
/// second) for the pairs of each step in order, which returns the number of the next, and
/// finish(number) after the last.
template <typename Bits, typename Tables, typename Sink>
ZR_HD std::uint32_t decode_subsequence(const Bits& bits, const Tables& tables, const WalkSpan& span,
                                       PairTarget& target, Sink& sink, std::uint32_t& bit,
                                       std::uint32_t& phase, std::uint32_t& k) {
  Cursor<kSymbolIndexBits, Bits, Tables> cursor(bits, tables, bit, phase, k);
  std::uint32_t block = target.block, pair = target.pair, next_index = k, beyond = 0;
  walk_subsequence(span, cursor, [&](std::uint32_t stop) {
    std::uint32_t entry = cursor.entry, after = next_index + (entry >> kSymbolIndexShift);
    const bool passes_stop = cursor.bit + taken_by(entry) > stop;
    if (goes_beyond(after) | passes_stop) {
      if (entry != kLongCode) {
        entry = first_symbol(entry);
      } else if (entry = cursor.long_symbol(); (entry & kSymbolFault) != 0) {
        next_index = 1;  // it is no DC
      }
      after = next_index + (entry >> kSymbolIndexShift);
      beyond |= after;
    }
    const bool ends = after >= kBlockSize - 1;
    const StepPairs pairs(cursor.window, entry, next_index == 0, next_index, after);
    cursor.step(entry, ends);
    sink.block_starts_if(next_index == 0, block, pair);
    pair = sink.put(pair, pairs.first, pairs.second);
    next_index = ends ? 0 : after + 1;
    if (ends) block += Sink::kBlockUnits;
    return ends;
  });
  sink.finish(pair);
  target = {block, pair};
  const bool gave_up = cursor.bit >= kGaveUp;
  bit = gave_up ? span.stop : cursor.bit;
  phase = gave_up ? 0 : tables.phase_before(cursor.next_block);
  k = next_index;
  return goes_beyond(beyond) || bit > span.end ? kFaultCode : 0;
}

}  // namespace zerorun
