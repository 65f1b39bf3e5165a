// Tables of the walk that counts MCUs and sums up DC differences, without AC values.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/syntax/huffman_code.hpp"
#include "codec/syntax/scan_layout.hpp"

namespace zerorun::fast {

/// 15.2 Mbit of a 4K photo at q90, four walks at once: 7.8 ms with 11 bits, 4.4 with 12, 7.2 with
/// 13 (a loaded machine; two AC tables of 12 bits take 32 KiB).
inline constexpr int kCountBits = 12;

/// The codewords at the start of the next kCountBits bits: one of DC with its appended bits, or
/// several of AC of which the appended bits of the last may be farther away.
struct CountStep {
  std::int16_t diff;     ///< DC: the difference; AC: 0
  std::uint8_t advance;  ///< of the zig-zag index; kCountEob added behind EOB
  std::uint8_t length;   ///< bits
};
/// At index k < 64 a step leads to k + advance: below 64 the block goes on; 64 is its end, and so
/// is kCountEob + 1 .. kCountEob + 63; anything else needs a look at the single codeword.
inline constexpr std::uint32_t kCountEob = 192;
inline constexpr std::uint8_t kNoCountStep = 100;
inline constexpr int kMostCountStepBits = kCountBits + 15;

struct CountTable {
  CountStep step[1 << kCountBits];
};

/// Precondition: check_huffman_spec() is ok.
void fill_ac_count_table(const HuffmanSpec& spec, CountTable& out);
void fill_dc_count_table(const HuffmanSpec& spec, CountTable& out);

/// The blocks of an MCU as a walk passes them.
struct CountCycle {
  struct Block {
    const CountStep *dc, *ac;
    const CountStep* next_dc;  ///< of the next block
    const Block* next;         ///< the last leads to the first
    std::uint32_t diff_shift;  ///< where the component's sum stands in CountWalk::diffs
    const HuffmanDecodeTable *dc_symbols, *ac_symbols;
  };
  Block block[kMaxBlocksPerMcu];
  int blocks = 0;
};

}  // namespace zerorun::fast
