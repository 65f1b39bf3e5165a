// A group of MCUs of which an index of the scan says where it begins and ends, decoded by one
// thread. Host code too, so that a test can run the algorithm without a device.
//
// A thread has hundreds of symbols one after the other, and a single frame hardly has a warp for
// each scheduler of the device, so what counts is how long one symbol keeps the next one waiting:
// bits and the next block's tables are fetched before it is known that they are needed.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "cuda/fused_decode/row_walk.hpp"

namespace zerorun {

/// The next bits in registers. `Words`: next() is one word after the other, from the one with the
/// first bit on; four more than have the bits that are passed.
template <typename Words>
class BitStream {
 public:
  /// `bit`: of the first word, below 32.
  ZR_HD BitStream(const Words& words, std::uint32_t bit) : words_(words), bit_(bit) {
    const std::uint32_t first = words_.next();
    second_ = words_.next();
    third_ = words_.next();
    fourth_ = words_.next();
    window_ = window_of({first, second_}, bit_);
    behind_ = window_of({second_, third_}, bit_);
  }

  ZR_HD std::uint32_t window() const { return window_; }
  /// Counted from the first word on.
  ZR_HD std::uint32_t bit() const { return bit_; }

  /// Passes `count` modulo 32.
  ZR_HD void pass(std::uint32_t count) {
    window_ = window_of({window_, behind_}, count);
    const std::uint32_t bit = bit_ + count % 32;
    if (((bit ^ bit_) & 32) != 0) {
      second_ = third_;
      third_ = fourth_;
      fourth_ = words_.next();
    }
    bit_ = bit;
    behind_ = window_of({second_, third_}, bit);
  }

 private:
  Words words_;
  std::uint32_t bit_;
  std::uint32_t window_, behind_;          ///< 32 bits each
  std::uint32_t second_, third_, fourth_;  ///< words behind the one that the window begins in
};

/// Words that may be read of a group that ends before bit `stop`.
ZR_HD std::uint32_t words_to_read(std::uint32_t stop) { return (stop + kMostStepBits) / 32 + 4; }

/// The decoder behind a group.
struct GroupEnd {
  std::uint32_t bit;     ///< counted from the first word on
  std::uint32_t window;  ///< the next 32 bits
  bool fault;            ///< a fault in the code, or an open block
};

/// Decodes the symbols from `bit` to `stop`, both counted from the first word on, and stores their
/// pairs, moving `target`. `bit` is below 32. A group has whole MCUs and no padding. `Tables` and
/// `Sink` as for decode_row(), but block_starts() is called for the block behind the last one, too.
/// Whatever the bits are, there are at most kMostGroupPairs pairs where `stop` is at most 65535
/// bits away.
template <typename Words, typename Tables, typename Sink>
ZR_HD GroupEnd decode_group(const Words& words, const Tables& tables, std::uint32_t bit,
                            std::uint32_t stop, RowTarget& target, Sink sink) {
  BitStream<Words> bits(words, bit);
  BlockTables block = tables.block_at(0), next = tables.block(block.next);
  std::uint32_t table = block.dc, k = 0, seen = 0, indices = 0;
  std::uint32_t block_bits = (target.block & kPairBlockMask) << kPairBlockShift;
  sink.block_starts(target.block, target.pair);
  while (bits.bit() < stop) {
    const std::uint32_t window = bits.window();
    std::uint32_t symbol = tables.look_up(table, window >> (32 - kSymbolIndexBits));
    if (symbol == 0)
      symbol = symbol_of(decode_long(tables.long_codes(table), window >> 16, kSymbolIndexBits),
                         tables.side(table));
    bits.pass(symbol >> kSymbolTakenShift);
    const std::uint32_t index = k + (symbol >> kSymbolRunShift);
    const bool ends = index + 1 >= kBlockSize;
    table = ends ? next.dc : block.ac;
    seen |= symbol;
    indices |= index;
    k = ends ? 0 : index + 1;
    if ((symbol & kSymbolMakesPair) != 0) {
      const std::uint32_t appended = window << (symbol & 31);
      sink.put(target.pair, (appended & kPairAppendedMask) | (symbol & kPairSsssMask) | block_bits |
                                (index & kPairIndexMask));
      ++target.pair;
    }
    if (ends) {
      block = next;
      next = tables.block(next.next);
      ++target.block;
      block_bits = (target.block & kPairBlockMask) << kPairBlockShift;
      sink.block_starts(target.block, target.pair);
    }
  }
  sink.finish(target.pair);
  // A run past the block's end leaves the bit of 64 in an index, which no EOB does.
  const bool fault = (seen & kSymbolFault) != 0 || (indices & kBlockSize) != 0 || k != 0;
  return {bits.bit(), bits.window(), fault};
}

/// Two bits a pair at least, but for a DC that stands last.
inline constexpr std::uint32_t kMostGroupPairs = (65535 + kMostStepBits) / 2 + 1;

}  // namespace zerorun
