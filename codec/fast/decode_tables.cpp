// Tables of the fast decoder.
// SPDX-License-Identifier: MIT
#include "codec/fast/decode_tables.hpp"

#include <cstring>

#include "codec/arith/symbol.hpp"
#include "codec/arith/zigzag.hpp"

namespace zerorun::fast {
namespace {

/// Calls entry(first, count, symbol, length, appended, ssss) for all codewords of `spec` that fit
/// into `width` bits with their appended bits: the look-up entries first .. first + count - 1.
template <typename Entry>
void for_each_short_code(const HuffmanSpec& spec, int width, const Entry& entry) {
  std::uint32_t code = 0;
  std::size_t next = 0;
  for (int length = 1; length <= width; ++length, code <<= 1)
    for (int i = 0; i < spec.bits[static_cast<std::size_t>(length)]; ++i, ++code) {
      const std::uint8_t symbol = spec.values[next++];
      const int ssss = symbol & 15, spare = width - length - ssss;
      if (spare < 0) continue;
      for (std::uint32_t appended = 0; appended < (1u << ssss); ++appended)
        entry((code << ssss | appended) << spare, 1u << spare, symbol, length + ssss,
              extend(appended, ssss));
    }
}

/// The first symbol of `a`, then that of `b`.
AcStep join(const AcStep& a, const AcStep& b) {
  AcStep both = a;
  both.length = static_cast<std::uint8_t>(a.length + b.length);
  both.advance = static_cast<std::uint8_t>(a.advance + b.advance);
  if (b.advance >= kEndOfBlock) return both;
  both.offset2 = static_cast<std::uint8_t>(a.advance + b.offset1);
  both.value2 = b.value1;
  return both;
}

}  // namespace

void fill_ac_table(const HuffmanSpec& spec, AcTable& out) {
  fill_decode_table(spec, out.symbols);
  static_assert(sizeof(AcStep) == 8);
  AcStep single[1 << kAcStepBits];
  std::memset(single, 0, sizeof single);
  for_each_short_code(
      spec, kAcStepBits,
      [&](std::uint32_t first, std::uint32_t count, int symbol, int length, std::int32_t value) {
        const int run = symbol >> 4, ssss = symbol & 15;
        // A size of 0 with a run below 15 ends the block, as in libjpeg.
        const bool ends = ssss == 0 && run != 15, zeros = ssss == 0 && run == 15;
        const auto offset = static_cast<std::uint8_t>(ends || zeros ? 0 : run);
        AcStep step{};
        step.value1 = step.value2 = static_cast<std::int16_t>(value);
        step.offset1 = step.offset2 = offset;
        step.advance = static_cast<std::uint8_t>(ends ? kEndOfBlock : run + 1);
        step.length = static_cast<std::uint8_t>(length);
        for (std::uint32_t i = 0; i < count; ++i) single[first + i] = step;
      });
  for (std::uint32_t i = 0; i < (1u << kAcStepBits); ++i) {
    const AcStep& first = single[i];
    out.step[i] = first;
    if (first.length == 0) out.step[i].advance = kNoSymbol;
    if (first.length == 0 || first.advance >= kEndOfBlock) continue;
    const AcStep& second = single[i << first.length & ((1u << kAcStepBits) - 1)];
    if (second.length != 0 && first.length + second.length <= kAcStepBits)
      out.step[i] = join(first, second);
  }
}

void fill_dc_table(const HuffmanSpec& spec, DcTable& out) {
  fill_decode_table(spec, out.symbols);
  std::memset(out.step, 0, sizeof out.step);
  for_each_short_code(
      spec, kDcStepBits,
      [&](std::uint32_t first, std::uint32_t count, int, int length, std::int32_t value) {
        for (std::uint32_t i = 0; i < count; ++i)
          out.step[first + i] = {static_cast<std::int16_t>(value),
                                 static_cast<std::uint8_t>(length)};
      });
}

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
