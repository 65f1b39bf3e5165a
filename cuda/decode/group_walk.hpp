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

#include "cuda/decode/subsequence_walk.hpp"

namespace zerorun {

/// Words that may be read of a group that ends before bit `stop`.
ZR_HD std::uint32_t words_to_read(std::uint32_t stop) { return (stop + kMostStepBits) / 32 + 3; }

/// Where a block has its code tables: numbers or addresses, as the tables are.
struct CodeTables {
  std::uint32_t dc, ac;
};

/// What is to be decoded. Bits count from where the words do.
struct GroupSpan {
  std::uint32_t bit, stop;
  std::uint32_t blocks;
};

/// The decoder behind a group.
struct GroupEnd {
  std::uint32_t bit;
  std::uint32_t window;  ///< the next 32 bits
  std::uint32_t blocks;
  std::uint32_t pair;  ///< number of the next one
  bool fault;          ///< in the code, or a block is open
};

/// Decodes the symbols from `bit` to `stop`, but of no more blocks, and stores their pairs, the
/// first one with the number `pair`. A group has whole MCUs and no padding. Whatever the bits are,
/// there are at most kMostGroupPairs pairs where `stop` is at most 65535 bits away. `Bits`:
/// words(i) are the word with bit i and the next one, words_behind(i) the two from that one on.
/// `Tables`: as for decode_subsequence(), but of blocks tables_of(i), of block i of the group or of
/// the one behind its last. `Sink`: put_if(c, pair, word) for one pair after the other,
/// finish(pair) behind the last; block_starts(i, pair) for the first, and block_starts_if(c, i,
/// pair) for those behind it with the one behind the last.
template <typename Bits, typename Tables, typename Sink>
ZR_HD GroupEnd decode_group(const Bits& bits, const Tables& tables, const GroupSpan& span,
                            std::uint32_t pair, Sink sink) {
  const CodeTables first = tables.tables_of(0);
  std::uint32_t table = first.dc, ac = first.ac, bit = span.bit, block = 0, k = 0, indices = 0;
  std::uint32_t window = window_of(bits.words(bit), bit);
  sink.block_starts(block, pair);
  while (bit < span.stop && block < span.blocks) {
    std::uint32_t symbol = tables.look_up(table, window >> (32 - kSymbolIndexBits));
    const WordPair behind = bits.words_behind(bit);
    const CodeTables next = tables.tables_of(block + 1);
    if (symbol == 0) symbol = tables.long_symbol(table, window >> 16);
    const std::uint32_t appended = window << (symbol & 31), index = k + (symbol >> kSymbolRunShift);
    window = window_of({window, window_of(behind, bit)}, symbol >> kSymbolTakenShift);
    bit += symbol >> kSymbolTakenShift & kSymbolTakenMask;
    const bool ends = index + 1 >= kBlockSize, makes_pair = (symbol & kSymbolMakesPair) != 0;
    table = ends ? next.dc : ac;
    ac = ends ? next.ac : ac;
    k = ends ? 0 : index + 1;
    indices |= index;
    sink.put_if(makes_pair, pair, make_pair_word(appended, symbol, index));
    increment_if(makes_pair, pair);
    increment_if(ends, block);
    sink.block_starts_if(ends, block, pair);
  }
  sink.finish(pair);
  return {bit, window, block, pair, (indices & kBlockSize) != 0 || k != 0};
}

/// Two bits a pair at least, but for a DC that stands last.
inline constexpr std::uint32_t kMostGroupPairs = (65535 + kMostStepBits) / 2 + 1;

}  // namespace zerorun
