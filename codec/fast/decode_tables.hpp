// Tables of the fast decoder: two short codewords with their values from one look-up.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/syntax/huffman_code.hpp"

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

struct DcStep {
  std::int16_t diff;
  std::uint8_t length;  ///< bits of codeword and value; 0: take decode_symbol()
};

struct AcTable {
  AcStep step[1 << kAcStepBits];
  HuffmanDecodeTable symbols;
};
struct DcTable {
  DcStep step[1 << kDcStepBits];
  HuffmanDecodeTable symbols;
};

/// Precondition: check_huffman_spec() is ok.
void fill_ac_table(const HuffmanSpec& spec, AcTable& out);
void fill_dc_table(const HuffmanSpec& spec, DcTable& out);

}  // namespace zerorun::fast
