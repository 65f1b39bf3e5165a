// One thread decodes a group of MCUs; an index of the scan says where the group begins and ends.
// Host code too, so that a test can run the algorithm without a device.
//
// A thread decodes hundreds of symbols one after the other, and a single frame has hardly a warp
// for each scheduler of the device. So the time of a step is what counts: how many instructions it
// has, and whether threads of a warp part and meet again in it. What only some symbols need is done
// by predicated instructions, or after some more steps.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "cuda/decode/staged_pairs.hpp"
#include "cuda/decode/subsequence_walk.hpp"

namespace zerorun {

/// The number of words that may be read to decode a group that ends before bit `stop`.
ZR_HD std::uint32_t words_to_read(std::uint32_t stop) { return (stop + kMostStepBits) / 32 + 3; }

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

/// A walk over a group before a codeword, whose table entry is loaded.
template <typename Bits, typename Tables>
struct GroupCursor : BitFront<Bits> {
  const Tables& tables;
  const GroupSpan span;
  std::uint32_t ac;  ///< table of the block's AC
  BlockTables next;  ///< of the next block
  std::uint32_t entry;
  std::uint32_t block = 0, k = 0;  ///< of the group; the next zig-zag index (0: the DC)

  ZR_HD GroupCursor(const Bits& bits, const Tables& of_scan, const GroupSpan& of_group)
      : BitFront<Bits>(bits, of_group.bit), tables(of_scan), span(of_group) {
    const BlockTables first = tables.block(tables.place(0));
    ac = tables.ac_of(first.dc);
    next = tables.block(first.next);
    look_up(first.dc);
  }
  ZR_HD bool has_ended() const { return this->bit >= span.stop || block >= span.blocks; }
  ZR_HD bool goes_beyond_block() const { return goes_beyond(index_of_last()); }
  /// Whether the entry's symbols are not to be passed as they are, or the first one's level is
  /// wide.
  ZR_HD bool is_unusual() const { return goes_beyond_block() || has_wide_level(entry); }
  /// Whether it is_unusual() or the group's bits have ended. (Steps do not ask whether it has all
  /// of its blocks.)
  ZR_HD bool is_unusual_or_behind() const {
#ifdef __CUDA_ARCH__
    // The compiler would make each condition a number before it combines them.
    std::uint32_t is;
    asm("{\n\t"
        ".reg .pred holds;\n\t"
        ".reg .u32 part;\n\t"
        "and.b32 part, %1, %2;\n\t"
        "setp.ne.u32 holds, part, 0;\n\t"
        "setp.gt.or.u32 holds, %3, %4, holds;\n\t"
        "setp.ge.or.u32 holds, %5, %6, holds;\n\t"
        "selp.u32 %0, 1, 0, holds;\n\t"
        "}"
        : "=r"(is)
        : "r"(index_of_last()), "n"(kBlockSize), "r"(entry & 15u << kFirstSsssShift),
          "n"(kMostNarrowSsss << kFirstSsssShift), "r"(this->bit), "r"(span.stop));
    return is != 0;
#else
    return is_unusual() || this->bit >= span.stop;
#endif
  }
  /// Passes the entry's symbols and returns their pairs. `at_dc`: whether `k` is 0, which is known
  /// from the step before.
  ZR_HD StepPairs step(bool& at_dc) {
    const std::uint32_t after = index_of_last();
    const bool ends = after >= kBlockSize - 1;
    const StepPairs pairs(this->window, entry, at_dc, k, after);
    const std::uint32_t passed = this->pass(taken_by(entry), this->window_behind(entry));
    look_up(ends ? next.dc : ac);
    if (ends) ac = tables.ac_of(next.dc);
    tables.pass_block_if(ends, next);
    increment_if(ends, block);
    this->read_ahead(passed);
    k = ends ? 0 : after + 1;
    at_dc = ends;
    return pairs;
  }
  /// Takes one symbol in place of an entry that goes beyond the block, or where the table has none.
  /// If that goes beyond the block too, the code is wrong.
  ZR_HD void take_one_symbol() {
    entry = entry != kLongCode
                ? first_symbol(entry)
                : long_codeword(tables, k == 0 ? tables.dc_of(ac) : ac, this->window);
  }

 private:
  /// Of the entry's symbols.
  ZR_HD std::uint32_t index_of_last() const { return k + (entry >> kSymbolIndexShift); }
  ZR_HD void look_up(std::uint32_t table) {
    entry = tables.look_up(table, this->window >> (32 - kSymbolIndexBits));
  }
};

/// Decodes the symbols from `bit` to `stop`, but none after a fault, and stores their pairs. Where
/// bits or index are wrong there may be more blocks than the span's, less than kStagedSteps more. A
/// group has whole MCUs and no padding. So no look-up tells symbols on both sides of `stop`, or the
/// end is not at `stop`, which the caller finds. Whatever the bits are, there are at most
/// kMostGroupPairs pairs if `stop` is at most 65535 bits away.
///
/// `Bits`: as for BitFront. `Tables`: place(), block(), ac_of(), look_up(), last() and
/// long_symbol() as for decode_subsequence(), a group begins with the block at place(0); dc_of(AC
/// table); pass_block_if(c, next) does next = block(next.next) if c holds. `Sink`: as StagedPairs.
template <typename Bits, typename Tables, typename Sink>
ZR_HD GroupEnd decode_group(const Bits& bits, const Tables& tables, const GroupSpan& span,
                            Sink& sink) {
  GroupCursor<Bits, Tables> cursor(bits, tables, span);
  bool fault = false;
  while (true) {
    // Nearly all steps are usual. A thread that comes to another one waits until all of its warp
    // are behind this loop: threads that part and meet again in each step would cost all of them
    // more.
    bool at_dc = cursor.k == 0;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (std::uint32_t i = 0; i < kStagedSteps; ++i) {
      if (cursor.is_unusual_or_behind()) break;
      sink.block_starts_if(at_dc, cursor.block);
      const StepPairs pairs = cursor.step(at_dc);
      sink.put(pairs.first, pairs.second);
    }
    if (cursor.has_ended()) break;
    if (cursor.is_unusual()) {
      if (cursor.goes_beyond_block()) {
        cursor.take_one_symbol();
        fault = cursor.goes_beyond_block();
        if (fault) break;
      }
      if (has_wide_level(cursor.entry)) {
        sink.flush();
        at_dc = cursor.k == 0;
        sink.block_starts_if(at_dc, cursor.block);
        const StepPairs pairs = cursor.step(at_dc);
        sink.put_wide(pairs.first);
      }
    }
    sink.flush();
  }
  sink.block_starts_if(cursor.k == 0, cursor.block);
  sink.finish();
  return {cursor.bit, cursor.window, cursor.block, sink.number(), fault || cursor.k != 0};
}

/// A group's last step begins before `stop`, and its symbols together take no more than
/// kMostStepBits. The last block may have its DC alone.
inline constexpr std::uint32_t kMostGroupPairs =
    static_cast<std::uint32_t>(most_pairs(65535 + kMostStepBits)) + 1;

}  // namespace zerorun
