// Tables of the walk that counts MCUs and sums up DC differences.
// SPDX-License-Identifier: MIT
#include "codec/fast/count_tables.hpp"

#include "codec/arith/symbol.hpp"
#include "codec/arith/zigzag.hpp"

namespace zerorun::fast {
namespace {

constexpr std::uint32_t kEntries = 1u << kCountBits;

struct Code {
  std::uint8_t symbol;
  std::uint8_t length;  // 0: longer than kCountBits
};

/// The codeword at the start of each run of kCountBits bits.
void list_codes(const HuffmanSpec& spec, Code (&codes)[kEntries]) {
  for (Code& code : codes) code = {};
  std::uint32_t code = 0;
  std::size_t next = 0;
  for (int length = 1; length <= kCountBits; ++length, code <<= 1)
    for (int i = 0; i < spec.bits[static_cast<std::size_t>(length)]; ++i, ++code) {
      const std::uint32_t first = code << (kCountBits - length), count = kEntries >> length;
      const std::uint8_t symbol = spec.values[next++];
      for (std::uint32_t e = 0; e < count; ++e)
        codes[first + e] = {symbol, static_cast<std::uint8_t>(length)};
    }
}

CountStep ac_step(const Code (&codes)[kEntries], std::uint32_t bits) {
  std::uint32_t advance = 0;
  int length = 0;
  while (length < kCountBits) {
    const Code& code = codes[bits << length & (kEntries - 1)];
    if (code.length == 0 || length + code.length > kCountBits) break;
    const int run = code.symbol >> 4, ssss = code.symbol & 15;
    // A size of 0 with a run below 15 ends the block, as in libjpeg.
    const bool ends = ssss == 0 && run != 15;
    // More would fit into no block, and the field holds no more.
    if (!ends && advance + static_cast<std::uint32_t>(run) + 1 >= kBlockSize) break;
    length += code.length + ssss;
    advance += ends ? kCountEob : static_cast<std::uint32_t>(run) + 1;
    if (ends) break;
  }
  if (length == 0) return {0, kNoCountStep, 0};
  return {static_cast<std::uint8_t>(length), static_cast<std::uint8_t>(advance), 0};
}

}  // namespace

void fill_ac_count_table(const HuffmanSpec& spec, CountTable& out) {
  Code codes[kEntries];
  list_codes(spec, codes);
  for (std::uint32_t i = 0; i < kEntries; ++i) out.step[i] = ac_step(codes, i);
}

void fill_dc_count_table(const HuffmanSpec& spec, CountTable& out) {
  Code codes[kEntries];
  list_codes(spec, codes);
  for (std::uint32_t i = 0; i < kEntries; ++i) {
    const int ssss = codes[i].symbol & 15, length = codes[i].length + ssss;
    out.step[i] = {0, kNoCountStep, 0};
    if (codes[i].length == 0 || length > kCountBits) continue;
    const std::uint32_t appended = i >> (kCountBits - length) & ((1u << ssss) - 1);
    out.step[i] = {static_cast<std::uint8_t>(length), 1,
                   static_cast<std::int16_t>(extend(appended, ssss))};
  }
}

}  // namespace zerorun::fast
