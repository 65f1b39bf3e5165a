// Tables of the fast decoder: two short codewords with their values from one look-up; and steps of
// the walks that count MCUs and sum up DC differences, without AC values.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/syntax/huffman_code.hpp"
#include "codec/syntax/scan_layout.hpp"

namespace zerorun::fast {

inline constexpr int kAcStepBits = 11;
inline constexpr int kDcStepBits = 10;

/// The one or two AC symbols at the start of the next kAcStepBits bits. From index k on, value1
/// belongs to k + offset1 and value2 to k + offset2; one symbol has both fields alike. EOB and ZRL
/// store the value 0, where 0 stands already.
struct AcStep {
  std::int16_t value1, value2;
  std::uint8_t offset1, offset2;
  std::uint8_t advance;  ///< of k; with kEndOfBlock added where EOB is among the symbols
  std::uint8_t length;   ///< bits
};
inline constexpr int kEndOfBlock = 128;
/// advance where there is no whole symbol: too far for any block, take decode_symbol().
inline constexpr int kNoSymbol = 192;
/// No k + offset is larger: 63 + 15 + 1 + 15.
inline constexpr int kMaxPlace = 95;

/// The codewords at the start of the next kCountBits, or kDcStepBits, bits: one of DC with its
/// appended bits, or several of AC of which the appended bits of the last may be farther away.
struct CountStep {
  std::uint8_t length;   ///< bits
  std::uint8_t advance;  ///< of the zig-zag index, modulo kCountEob where EOB is the last
  std::int16_t diff;     ///< DC: the difference; AC: 0
};
struct AcTable {
  AcStep step[1 << kAcStepBits];
  HuffmanDecodeTable symbols;
};
struct DcTable {
  CountStep step[1 << kDcStepBits];  ///< length 0: take decode_symbol()
  HuffmanDecodeTable symbols;
};

/// Precondition: check_huffman_spec() is ok.
void fill_ac_table(const HuffmanSpec& spec, AcTable& out);
void fill_dc_table(const HuffmanSpec& spec, DcTable& out);

/// 15.2 Mbit of a 4K photo at q90, four walks at once: 7.8 ms with 11 bits, 4.4 with 12, 7.2 with
/// 13 (a loaded machine; two AC tables of 12 bits take 32 KiB).
inline constexpr int kCountBits = 12;

/// A walk keeps kCountIndex + k for the zig-zag index k of the next coefficient. A step adds its
/// advance. Then kCountEnds is set behind EOB, and kCountLook where the single codeword has to be
/// looked at: the block is full, or more than full, or there is no step.
inline constexpr std::uint32_t kCountIndex = 128, kCountEob = 128, kCountEnds = 256,
                               kCountLook = 64;
inline constexpr std::uint8_t kNoCountStep = kCountLook;
inline constexpr int kMostCountStepBits = kCountBits + 15;

struct CountTable {
  CountStep step[1 << kCountBits];
};

void fill_ac_count_table(const HuffmanDecodeTable& table, CountTable& out);
void fill_dc_count_table(const HuffmanDecodeTable& table, CountTable& out);

/// The codewords of an MCU as a walk passes them. Points to itself, so it is not copied.
struct CountCycle {
  /// The next codeword of a walk: a DC or an AC of a block.
  struct Place {
    const CountStep* steps;
    const Place* next[2];  ///< [0]: behind the codeword if the block goes on; [1]: the next block
    std::uint64_t diff_shift;  ///< where the component's sum stands in CountWalk::diffs
    const HuffmanDecodeTable* symbols;
  };
  Place place[2 * kMaxBlocksPerMcu];  ///< DC and AC of each block
  int blocks = 0;

  CountCycle() = default;
  CountCycle(const CountCycle&) = delete;
  CountCycle& operator=(const CountCycle&) = delete;

  const Place* before(int block) const { return place + 2 * block; }
};

}  // namespace zerorun::fast
