// Look-up tables of a Huffman code: for coding (EHUFCO, EHUFSI; T.81 C.3) and for decoding
// (F.2.2.3).
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/arith/host_device.hpp"
#include "codec/arith/symbol.hpp"
#include "codec/syntax/tables.hpp"

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

/// Fills all of a table but its look-up and its values.
ZR_HD void fill_lengths(const HuffmanSpec& spec, HuffmanDecodeTable& out) {
  std::uint32_t code = 0;
  std::int32_t next = 0;
  for (int length = 1; length <= kMaxCodeBits; ++length) {
    const std::int32_t used = spec.bits[static_cast<std::size_t>(length)];
    out.value_offset[length] = next - static_cast<std::int32_t>(code);
    code += static_cast<std::uint32_t>(used);
    next += used;
    out.limit[length] = code << (kMaxCodeBits - length);
    code <<= 1;
  }
  out.limit[0] = 0;
  out.limit[kMaxCodeBits + 1] = 0xFFFFFFFF;
  out.value_offset[0] = 0;
}

/// The look-up's entry for the next bits `index`, from the rest of the table.
ZR_HD std::uint16_t lookup_entry(const HuffmanDecodeTable& table, std::uint32_t index) {
  const std::uint32_t next16 = index << (kMaxCodeBits - kLookupBits);
  std::int32_t length = 1;
  for (int l = 1; l <= kLookupBits; ++l) length += next16 >= table.limit[l];
  if (length > kLookupBits) return 0;
  const auto code = static_cast<std::int32_t>(next16 >> (kMaxCodeBits - length));
  const std::uint8_t value = table.values[(code + table.value_offset[length]) & 0xFF];
  return static_cast<std::uint16_t>(length << 8 | value);
}

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
