// Look-up tables of a Huffman code: for coding (EHUFCO, EHUFSI; T.81 C.3) and for decoding
// (F.2.2.3).
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/arith/host_device.hpp"
#include "codec/arith/symbol.hpp"
#include "codec/syntax/huffman_spec.hpp"

namespace zerorun {

/// Plain data in the memory of the running backend.
struct HuffmanEncodeTables {
  std::uint32_t code[kEncodeTables][256];
  std::uint8_t bits[kEncodeTables][256];  ///< 0: the symbol has no codeword
};

void fill_encode_table(const HuffmanSpec& spec, int table, HuffmanEncodeTables& out);

inline constexpr int kLookupBits = 10;

/// One table for decoding. Codewords up to kLookupBits come from `lookup`, longer ones by length.
struct HuffmanDecodeTable {
  std::uint16_t lookup[1 << kLookupBits];  ///< by the next bits: length << 8 | symbol; 0 = longer
  /// For each length: one past its largest code, shifted to 16 bits; lengths without codes repeat
  /// the previous limit. [17] is above every 16-bit number.
  std::uint32_t limit[kMaxCodeBits + 2];
  std::int32_t value_offset[kMaxCodeBits + 1];  ///< index into values minus code
  std::uint8_t values[256];
};

/// Up to four destinations for each class.
struct HuffmanDecodeTables {
  HuffmanDecodeTable dc[4];
  HuffmanDecodeTable ac[4];
};

/// Precondition: check_huffman_spec() is ok.
void fill_decode_table(const HuffmanSpec& spec, HuffmanDecodeTable& out);

struct DecodedSymbol {
  std::int32_t bits;  ///< length of the codeword; 0: the next 16 bits hold none
  std::int32_t value;
};

/// A codeword of more than kLookupBits, at the beginning of 16 bits.
ZR_HD DecodedSymbol decode_long_symbol(const HuffmanDecodeTable& table, std::uint32_t next16) {
  std::int32_t length = kLookupBits + 1;
  while (next16 >= table.limit[length]) ++length;
  if (length > kMaxCodeBits) return {0, 0};
  const auto code = static_cast<std::int32_t>(next16 >> (kMaxCodeBits - length));
  return {length, table.values[(code + table.value_offset[length]) & 0xFF]};
}

/// `next16` are the next 16 bits of the stream.
ZR_HD DecodedSymbol decode_symbol(const HuffmanDecodeTable& table, std::uint32_t next16) {
  const std::uint32_t entry = table.lookup[next16 >> (kMaxCodeBits - kLookupBits)];
  if (entry != 0)
    return {static_cast<std::int32_t>(entry >> 8), static_cast<std::int32_t>(entry & 0xFF)};
  return decode_long_symbol(table, next16);
}

}  // namespace zerorun
