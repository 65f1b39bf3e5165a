// One thread decodes a group of MCUs; an index of the scan says where the group begins and ends.
// Host code too, so that a test can run the algorithm without a device.
//
// A thread decodes hundreds of symbols one after the other, and a single frame has hardly a warp
// for each scheduler of the device. So the time from one look-up to the next is what counts. Only
// the entry itself is loaded from an address that depends on another load, and what only some
// symbols need is mostly done by predicated instructions, without a branch.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "cuda/decode/subsequence_walk.hpp"

namespace zerorun {

/// The number of words that may be read to decode a group that ends before bit `stop`.
ZR_HD std::uint32_t words_to_read(std::uint32_t stop) { return (stop + kMostStepBits) / 32 + 3; }

/// The code tables of a block: indices or addresses, as `Tables` has them.
struct CodeTables {
  std::uint32_t dc, ac;
};

/// The group's bits, counted from the first of `Bits`, and its blocks.
struct GroupSpan {
  std::uint32_t bit, stop;
  std::uint32_t blocks;
};

/// The decoder's state after a group.
struct GroupEnd {
  std::uint32_t bit;
  std::uint32_t window;  ///< the next 32 bits
  std::uint32_t blocks;
  std::uint32_t pair;  ///< number of the next pair
  bool fault;          ///< the code is wrong, or the last block is not complete
};

/// Decodes the symbols from `bit` to `stop`, but no more than the span's blocks, and stores their
/// pairs, the first one with the number `pair`. A group has whole MCUs and no padding. So no
/// look-up tells symbols on both sides of `stop`, or the end is not at `stop`, which the caller
/// finds. Whatever the bits are, there are at most kMostGroupPairs pairs if `stop` is at most 65535
/// bits away.
///
/// `Bits`: as for BitFront. `Tables`: look_up(), last() and long_symbol() as for
/// decode_subsequence(), and tables_of(i) for block i of the group or one of the two after its
/// last. `Sink`: put() and finish() as there;
/// block_starts(0, pair) for the first block, block_starts_if(c, i, pair) for the others and for
/// the one after the last.
template <typename Bits, typename Tables, typename Sink>
ZR_HD GroupEnd decode_group(const Bits& bits, const Tables& tables, const GroupSpan& span,
                            std::uint32_t pair, Sink& sink) {
  const CodeTables first = tables.tables_of(0);
  BitFront<Bits> front(bits, span.bit);
  std::uint32_t table = first.dc, ac = first.ac, block = 0, k = 0, beyond = 0;
  std::uint32_t entry = tables.look_up(table, front.window >> (32 - kSymbolIndexBits));
  CodeTables next = tables.tables_of(1);
  sink.block_starts(block, pair);
  while (front.bit < span.stop && block < span.blocks) {
    std::uint32_t symbols = entry, after, window;
    bool ends;
    // The next entry is loaded at once: before the symbols' pairs are stored, and before it is
    // known whether the table has them. One 1920x1080 frame after the other, by an index,
    // takes 63 to 64 us so and 67 to 69 otherwise, with optimal tables 84 to 87 and 95 to 96
    // (H200).
    const auto look_ahead = [&] {
      after = k + (symbols >> kSymbolIndexShift);
      ends = after >= kBlockSize - 1;
      window = front.window_behind(symbols);
      entry = tables.look_up(ends ? next.dc : ac, window >> (32 - kSymbolIndexBits));
    };
    look_ahead();
    if (goes_beyond(after)) {
      if (symbols != kLongCode)
        symbols = first_symbol(symbols);
      else if (symbols = long_codeword(tables, table, front.window); (symbols & kSymbolFault) != 0)
        k = 1;  // it is no DC
      look_ahead();
      beyond |= after;
    }
    const StepPairs pairs(front.window, symbols, k, after);
    const std::uint32_t passed = front.pass(taken_by(symbols), window);
    table = ends ? next.dc : ac;
    ac = ends ? next.ac : ac;
    increment_if(ends, block);
    next = tables.tables_of(block + 1);
    front.read_ahead(passed);
    k = ends ? 0 : after + 1;
    pair = sink.put(pair, pairs.first, pairs.second);
    sink.block_starts_if(ends, block, pair);
  }
  sink.finish(pair);
  return {front.bit, front.window, block, pair, goes_beyond(beyond) || k != 0};
}

/// A group's last step begins before `stop`, and its symbols together take no more than
/// kMostStepBits. The last block may have its DC alone.
inline constexpr std::uint32_t kMostGroupPairs =
    static_cast<std::uint32_t>(most_pairs(65535 + kMostStepBits)) + 1;

}  // namespace zerorun
