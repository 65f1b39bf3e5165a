// A group of MCUs of which an index of the scan says where it begins and ends, decoded by one
// thread. Host code too, so that a test can run the algorithm without a device.
//
// A thread has hundreds of symbols one after the other, and a single frame hardly has a warp for
// each scheduler of the device, so what counts is how long one symbol keeps the next one waiting.
// Nothing is loaded from an address that waits for another load but the symbol itself, and what
// only some symbols do is done under a condition, without a branch.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "cuda/fused_decode/row_walk.hpp"

namespace zerorun {

/// Words that may be read of a group that ends before bit `stop`.
ZR_HD std::uint32_t words_to_read(std::uint32_t stop) { return (stop + kMostStepBits) / 32 + 3; }

/// The decoder behind a group.
struct GroupEnd {
  std::uint32_t bit;
  std::uint32_t window;  ///< the next 32 bits
  bool fault;            ///< a fault in the code, or an open block
};

/// Decodes the symbols from `bit` to `stop` and stores their pairs, moving `target`. A group has
/// whole MCUs and no padding. Whatever the bits are, there are at most kMostGroupPairs pairs where
/// `stop` is at most 65535 bits away. `Bits`: words(i) are the word with bit i and the next one.
/// `Tables`: as for decode_row(), and load_block_if(condition, place, block). `Sink`: put_if(c,
/// index, word) for one pair after the other, finish(index) behind the last, and block_starts_if(c,
/// block, pair) for the block behind the last one, too.
template <typename Bits, typename Tables, typename Sink>
ZR_HD GroupEnd decode_group(const Bits& bits, const Tables& tables, std::uint32_t bit,
                            std::uint32_t stop, RowTarget& target, Sink sink) {
  BlockTables next = tables.block_at(0);
  std::uint32_t table = next.dc, ac = next.ac, k = 0, seen = 0, indices = 0;
  next = tables.block(next.next);
  std::uint32_t window = window_of(bits.words(bit), bit);
  sink.block_starts_if(true, target.block, target.pair);
  while (bit < stop) {
    std::uint32_t symbol = tables.look_up(table, window >> (32 - kSymbolIndexBits));
    const WordPair behind = bits.words(bit + 32);
    if (symbol == 0)
      symbol = symbol_of(decode_long(tables.long_codes(table), window >> 16, kSymbolIndexBits),
                         tables.side(table));
    const std::uint32_t appended = window << (symbol & 31);
    window = window_of({window, window_of(behind, bit)}, symbol >> kSymbolTakenShift);
    bit += symbol >> kSymbolTakenShift & kSymbolTakenMask;
    const std::uint32_t index = k + (symbol >> kSymbolRunShift);
    const bool ends = index + 1 >= kBlockSize, makes_pair = (symbol & kSymbolMakesPair) != 0;
    table = ends ? next.dc : ac;
    seen |= symbol;
    indices |= index;
    k = ends ? 0 : index + 1;
    sink.put_if(makes_pair, target.pair,
                (appended & kPairAppendedMask) | (symbol & kPairSsssMask) |
                    (target.block & kPairBlockMask) << kPairBlockShift | (index & kPairIndexMask));
    target.pair += makes_pair ? 1 : 0;
    target.block += ends ? 1 : 0;
    ac = ends ? next.ac : ac;
    tables.load_block_if(ends, next.next, next);
    sink.block_starts_if(ends, target.block, target.pair);
  }
  sink.finish(target.pair);
  // A run past the block's end leaves the bit of 64 in an index, which no EOB does.
  const bool fault = (seen & kSymbolFault) != 0 || (indices & kBlockSize) != 0 || k != 0;
  return {bit, window, fault};
}

/// Two bits a pair at least, but for a DC that stands last.
inline constexpr std::uint32_t kMostGroupPairs = (65535 + kMostStepBits) / 2 + 1;

}  // namespace zerorun
