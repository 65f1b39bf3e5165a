// A row of Huffman-coded bits, walked by one thread: skipped (where does it end, how many blocks
// and pairs has it?) or decoded. Host code too, so that a test can run the algorithm without a
// device.
//
// A row is a subsequence of kRowBits bits of a restart interval, counted from the interval's start.
// It has the codewords that start in it.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/arith/host_device.hpp"
#include "codec/arith/symbol.hpp"
#include "cuda/fused_decode/row_tables.hpp"

namespace zerorun {

/// Short rows synchronise less often within the next one, long ones leave fewer threads something
/// to do and keep each longer: with 544 bits instead of 288, in a 1920x1080 frame at q90,
/// decode_rows() takes 28 us instead of 19 and sync_rows() 52 instead of 48 (H200). An odd number
/// of words: threads that are equally far in neighbouring rows meet no bank of shared memory twice.
inline constexpr std::uint32_t kRowBits = 288;
static_assert(kRowBits / 32 % 2 == 1);
inline constexpr std::uint32_t kRowBytes = kRowBits / 8;
/// No step and no symbol takes more bits.
inline constexpr std::uint32_t kMostStepBits = 31;

/// Row numbers of interval i begin here; `first_byte` is where its clean bytes begin. No prefix sum
/// over the intervals is needed: one number in each may stay without a row.
ZR_HD std::uint32_t first_row_of(std::uint32_t interval, std::uint32_t first_byte) {
  return first_byte / kRowBytes + interval;
}

/// The decoder before a codeword: bits behind the row's begin (0..30), block of the MCU modulo the
/// period of the tables, next zig-zag index (0: the DC).
struct RowState {
  std::uint32_t overshoot, phase, k;
};
ZR_HD std::uint32_t pack(const RowState& s) { return s.overshoot | s.phase << 5 | s.k << 9; }
ZR_HD RowState unpack_row_state(std::uint32_t packed) {
  return {packed & 31, packed >> 5 & 15, packed >> 9};
}

/// A word and the next one: the 32 bits that begin at bit `bit` (modulo 32) of the first.
struct WordPair {
  std::uint32_t first, second;
};
ZR_HD std::uint32_t window_of(const WordPair& words, std::uint32_t bit) {
#ifdef __CUDA_ARCH__
  return __funnelshift_l(words.second, words.first, bit);
#else
  return static_cast<std::uint32_t>((std::uint64_t{words.first} << 32 | words.second) >>
                                    (32 - bit % 32));
#endif
}

/// Whether nothing but an interval's padding (T.81 F.1.2.3) is left: less than a byte of ones.
/// No codeword is all ones.
ZR_HD bool is_padding(std::uint32_t next32, std::uint32_t bits_left) {
  return bits_left < 8 && (next32 | (0xFFFFFFFFu >> bits_left)) == 0xFFFFFFFFu;
}

/// What a row has: blocks that end in it, and pairs.
struct RowTally {
  std::uint32_t blocks, pairs;
};

/// Bits of a row. The next row begins at `stop`, the interval ends at `end`.
struct RowSpan {
  std::uint32_t stop, end;
};

/// What a walk has to know of a block of the MCU. The numbers are the walk's tables' own: a table
/// by its place, a block likewise.
struct alignas(16) BlockTables {
  std::uint32_t dc, ac;  ///< tables
  std::uint32_t next;    ///< the block behind it
  std::uint32_t phase;
};

/// Walks from `bit` on by steps, as the skip tables make them, to the first that begins at `stop`
/// or behind, or to the interval's end, moving `bit`, `phase` and `k`. Two walks that meet before a
/// codeword meet before a step when that block ends at the latest. Wrong bits are passed by without
/// notice: whether a row was right is seen when it is decoded. `Bits`: bits(i) are the 32 bits from
/// bit i on; some behind the last one may be read. `Tables`: block(place), block_at(phase), and of
/// a table look_up(table, index), which is a skip entry, long_codes(table) and side(table).
template <typename Bits, typename Tables>
ZR_HD RowTally skip_row(const Bits& bits, const Tables& tables, const RowSpan& span,
                        std::uint32_t& bit, std::uint32_t& phase, std::uint32_t& k) {
  BlockTables block = tables.block_at(phase);
  std::uint32_t table = k == 0 ? block.dc : block.ac, blocks = 0, pairs = 0;
  std::uint32_t window = bits(bit), last = k - 1;  // before the DC, none: 0 with the next one
  const auto step = [&] {
    std::uint32_t entry = tables.look_up(table, window >> (32 - kSkipBits));
    std::uint32_t after = last + (entry >> kSkipIndexShift);
    if (goes_beyond(after)) {
      entry = entry == kNoStep << kSkipIndexShift
                  ? step_of(decode_long(tables.long_codes(table), window >> 16, kSkipBits),
                            tables.side(table))
                  : first_of(entry);
      after = last + (entry >> kSkipIndexShift);
    }
    bit += entry & kSkipBitsMask;
    window = bits(bit);  // on its way while the rest is done
    pairs += entry & kSkipPairMask << kSkipPairShift;
    const bool ends = after >= kBlockSize - 1;
    last = ends ? 0xFFFFFFFFu : after;
    table = block.ac;
    if (ends) {
      ++blocks;
      block = tables.block(block.next);
      table = block.dc;
    }
    return ends;
  };
  // Where no step can reach the interval's padding, nobody looks out for it.
  const auto near = static_cast<std::int32_t>(
      span.stop + kMostStepBits + 8 < span.end ? span.stop : span.end - kMostStepBits - 8);
  while (static_cast<std::int32_t>(bit) < near) step();
  while (bit < span.stop)
    if (step() && bit < span.end && is_padding(window, span.end - bit)) bit = span.end;
  phase = block.phase;
  k = last + 1;
  return {blocks, pairs >> kSkipPairShift};
}

/// What can be wrong with a scan for the fused decoder; it then leaves it to the staged one.
/// Bits.
/// Not RST0, RST1, … between as many intervals as the image has.
inline constexpr std::uint32_t kFaultRestarts = 1;
/// No codeword, a run past the block's end, or the data end early.
inline constexpr std::uint32_t kFaultCode = 2;
/// A row does not end where the next one was taken to begin.
inline constexpr std::uint32_t kFaultSync = 4;
/// An interval has not its number of blocks, or bytes too many.
inline constexpr std::uint32_t kFaultCount = 8;
/// A value that no encoder makes.
inline constexpr std::uint32_t kFaultCoefficient = 16;
/// The scan is not as its index says; without it, it may be sound.
inline constexpr std::uint32_t kFaultIndex = 32;

/// A (run, level) pair between the kernels, as it was in the stream.
///   bits 0-5    zig-zag index
///   bits 6-12   the last bits of the block's number
///   bits 13-16  SSSS
///   bits 17-31  the appended bits, from the highest on; behind them, anything
inline constexpr std::uint32_t kPairIndexMask = 63, kPairBlockMask = 127;
inline constexpr int kPairBlockShift = 6;
inline constexpr std::uint32_t kPairAppendedMask = 0xFFFE0000;

ZR_HD std::int32_t level_of(std::uint32_t pair) {
  const std::uint32_t ssss = pair >> kPairSsssShift & 15;
  return extend((pair >> 1) >> (31 - ssss), static_cast<int>(ssss));
}

/// Where blocks and pairs go.
struct RowTarget {
  std::uint32_t block, pair;  ///< of the next codeword; a block may be open there
};

/// Decodes the symbols from `bit` to `stop`, or to the interval's end, and stores their pairs,
/// moving `target`, `bit`, `phase` and `k`; returns faults. Passes the same symbols as skip_row()
/// did, so that there are as many pairs and blocks. `Tables`: as there, but look_up() is a symbol.
/// `Sink`: block_starts(block, pair), put(index, word) for one pair after the other, and
/// finish(index) behind the last.
template <typename Bits, typename Tables, typename Sink>
ZR_HD std::uint32_t decode_row(const Bits& bits, const Tables& tables, const RowSpan& span,
                               RowTarget& target, Sink sink, std::uint32_t& bit,
                               std::uint32_t& phase, std::uint32_t& k) {
  BlockTables block = tables.block_at(phase);
  std::uint32_t table = k == 0 ? block.dc : block.ac, indices = 0;
  std::uint32_t block_bits = (target.block & kPairBlockMask) << kPairBlockShift;
  std::uint32_t window = bits(bit);
  const auto decode = [&] {
    std::uint32_t symbol = tables.look_up(table, window >> (32 - kSymbolIndexBits));
    if (symbol == 0)
      symbol = symbol_of(decode_long(tables.long_codes(table), window >> 16, kSymbolIndexBits),
                         tables.side(table));
    bit += symbol >> kSymbolTakenShift & kSymbolTakenMask;
    const std::uint32_t appended = window << (symbol & 31);
    window = bits(bit);  // on its way while the rest is done
    const std::uint32_t index = k + (symbol >> kSymbolRunShift);
    indices |= index;
    if ((symbol & kSymbolMakesPair) != 0) {
      if (k == 0) sink.block_starts(target.block, target.pair);
      sink.put(target.pair, (appended & kPairAppendedMask) | (symbol & kPairSsssMask) | block_bits |
                                (index & kPairIndexMask));
      ++target.pair;
    }
    const bool ends = index + 1 >= kBlockSize;
    k = ends ? 0 : index + 1;
    table = block.ac;
    if (ends) {
      ++target.block;
      block_bits = (target.block & kPairBlockMask) << kPairBlockShift;
      block = tables.block(block.next);
      table = block.dc;
    }
    return ends;
  };
  const auto near = static_cast<std::int32_t>(
      span.stop + kMostStepBits + 8 < span.end ? span.stop : span.end - kMostStepBits - 8);
  while (static_cast<std::int32_t>(bit) < near) decode();
  while (bit < span.stop)
    if (decode() && bit < span.end && is_padding(window, span.end - bit)) bit = span.end;
  sink.finish(target.pair);
  phase = block.phase;
  return (indices & kBlockSize) != 0 || bit > span.end ? kFaultCode : 0;
}

}  // namespace zerorun
