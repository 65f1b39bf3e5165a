// Look-up tables of a Huffman code.
// SPDX-License-Identifier: MIT
#include "codec/syntax/huffman_code.hpp"

#include <cstring>

namespace zerorun {

void fill_encode_table(const HuffmanSpec& spec, int table, HuffmanEncodeTables& out) {
  std::memset(out.code[table], 0, sizeof out.code[table]);
  std::memset(out.bits[table], 0, sizeof out.bits[table]);
  std::uint32_t code = 0;
  std::size_t next = 0;
  for (std::size_t length = 1; length <= kMaxCodeBits; ++length) {
    for (int i = 0; i < spec.bits[length]; ++i) {
      const std::uint8_t symbol = spec.values[next++];
      out.code[table][symbol] = code++;
      out.bits[table][symbol] = static_cast<std::uint8_t>(length);
    }
    code <<= 1;
  }
}

void fill_decode_table(const HuffmanSpec& spec, HuffmanDecodeTable& out) {
  std::memset(out.lookup, 0, sizeof out.lookup);
  std::memcpy(out.values, spec.values.data(), sizeof out.values);
  fill_lengths(spec, out);
  std::int32_t next = 0;
  for (int length = 1; length <= kLookupBits; ++length) {
    for (int i = 0; i < spec.bits[static_cast<std::size_t>(length)]; ++i, ++next) {
      const auto entry =
          static_cast<std::uint16_t>(length << 8 | spec.values[static_cast<std::size_t>(next)]);
      const auto code = static_cast<std::uint32_t>(next - out.value_offset[length]);
      const std::uint32_t first = code << (kLookupBits - length);
      for (std::uint32_t fill = 0; fill < (1u << (kLookupBits - length)); ++fill)
        out.lookup[first + fill] = entry;
    }
  }
}

}  // namespace zerorun
