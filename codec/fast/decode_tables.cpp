// Tables of the fast decoder.
// SPDX-License-Identifier: MIT
#include "codec/fast/decode_tables.hpp"

#include "codec/arith/symbol.hpp"
#include "codec/arith/zigzag.hpp"
#include "codec/decode/block_decoder.hpp"

namespace zerorun::fast {
namespace {

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
  AcStep single[1 << kAcStepBits] = {};
  for (std::uint32_t i = 0; i < (1u << kAcStepBits); ++i) {
    const ShortCode code = short_code(out.symbols, i, kAcStepBits);
    if (code.length == 0) continue;
    const int run = code.symbol >> 4, ssss = code.symbol & 15;
    AcStep& step = single[i];
    step.value1 = step.value2 = static_cast<std::int16_t>(extend(code.appended, ssss));
    step.offset1 = step.offset2 = static_cast<std::uint8_t>(ssss == 0 ? 0 : run);
    step.advance = static_cast<std::uint8_t>(code.ends_block() ? kEndOfBlock : run + 1);
    step.length = static_cast<std::uint8_t>(code.length);
  }
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

namespace {

constexpr std::uint32_t kEntries = 1u << kCountBits;

CountStep ac_step(const HuffmanDecodeTable& table, std::uint32_t bits) {
  std::uint32_t advance = 0;
  int length = 0;
  while (length < kCountBits) {
    const DecodedSymbol code =
        decode_symbol(table, (bits << length & (kEntries - 1)) << (kMaxCodeBits - kCountBits));
    if (code.bits == 0 || length + code.bits > kCountBits) break;
    const int run = code.value >> 4, ssss = code.value & 15;
    // A size of 0 with a run below 15 ends the block, as in libjpeg.
    const bool ends = ssss == 0 && run != 15;
    // More would fit into no block, and the field holds no more.
    if (!ends && advance + static_cast<std::uint32_t>(run) + 1 >= kBlockSize) break;
    length += code.bits + ssss;
    advance += ends ? kCountEob : static_cast<std::uint32_t>(run) + 1;
    if (ends) break;
  }
  if (length == 0) return {0, kNoCountStep, 0};
  return {static_cast<std::uint8_t>(length), static_cast<std::uint8_t>(advance), 0};
}

}  // namespace

void fill_ac_count_table(const HuffmanDecodeTable& table, CountTable& out) {
  for (std::uint32_t i = 0; i < kEntries; ++i) out.step[i] = ac_step(table, i);
}

static void fill_dc_steps(const HuffmanDecodeTable& table, int bits, CountStep* out) {
  for (std::uint32_t i = 0; i < (1u << bits); ++i) {
    const ShortCode code = short_code(table, i, bits);
    out[i] = {static_cast<std::uint8_t>(code.length),
              static_cast<std::uint8_t>(code.length == 0 ? kNoCountStep : 1),
              static_cast<std::int16_t>(extend(code.appended, code.symbol))};
  }
}
void fill_dc_count_table(const HuffmanDecodeTable& table, CountTable& out) {
  fill_dc_steps(table, kCountBits, out.step);
}
void fill_dc_table(const HuffmanSpec& spec, DcTable& out) {
  fill_decode_table(spec, out.symbols);
  fill_dc_steps(out.symbols, kDcStepBits, out.step);
}

}  // namespace zerorun::fast
