// The symbols of a sequential scan, which is to be coded again with other tables.
// SPDX-License-Identifier: MIT
#include "codec/decode/scan_symbols.hpp"

#include <algorithm>
#include <bit>

#include "codec/arith/host_device.hpp"
#include "codec/decode/block_decoder.hpp"

namespace zerorun {

void ScanSymbols::begin_scan(const ScanHeader& scan, const std::uint8_t* clean,
                             std::uint64_t clean_bytes, const std::uint8_t* table) {
  scan_ = &scan;
  clean_ = clean;
  std::copy_n(table, scan.components.size(), table_);
  count_ = intervals_ = 0;
  room_ = 4 * clean_bytes;
  symbols_.reserve(static_cast<std::int64_t>(room_ + kMostBlockSymbols));
  interval_end_.reserve(scan.layout.intervals());
  for (std::size_t d = 0; d < 4; ++d) {
    if (scan.dc[d]) fill_decode_table(*scan.dc[d], huffman_.dc[d]);
    if (!scan.ac[d]) continue;
    fill_decode_table(*scan.ac[d], huffman_.ac[d]);
    for (std::uint32_t i = 0; i < (1u << kStepBits); ++i) {
      const ShortCode code = short_code(huffman_.ac[d], i, kStepBits);
      steps_[d][i] = {{}, 0, kLong};
      if (code.length == 0) continue;
      const int advance = code.ends_block() ? kEndOfBlock : (code.symbol >> 4) + 1;
      steps_[d][i] = {
          {static_cast<std::uint8_t>(code.symbol), 0, static_cast<std::uint16_t>(code.appended)},
          static_cast<std::uint8_t>(code.length),
          static_cast<std::uint8_t>(advance)};
    }
  }
}

ZR_MULTIVERSION static bool read_interval(ScanSymbols& s, IntervalState& interval) {
  using S = ScanSymbols;
  const ScanLayout& layout = s.scan_->layout;
  McuStart at = interval.at;  // this and more are copies, which stay in registers
  ByteWindow bits = ByteWindow::at(s.clean_, at.bit);
  const std::uint8_t* const limit = s.clean_ + interval.end_bit / 8 + 8;  // the window is ahead
  Symbol *out = s.symbols_.data() + s.count_, *const room = s.symbols_.data() + s.room_;
  std::int16_t sent[kMaxDecodedComponents] = {};  // the last DC that is no padding
  for (; at.mcu < interval.end_mcu; ++at.mcu)
    for (std::int32_t i = 0; i < layout.blocks_per_mcu; ++i) {
      const BlockPlace place = place_block(layout, at.mcu, i);
      const int c = place.component;
      const HuffmanDecodeTable& dc = s.huffman_.dc[layout.component[c].dc_table];
      const HuffmanDecodeTable& ac = s.huffman_.ac[layout.component[c].ac_table];
      const S::Step* const steps = s.steps_[layout.component[c].ac_table];
      const std::uint8_t dc_table = s.table_[c], ac_table = static_cast<std::uint8_t>(2 + dc_table);
      const auto of_ac = std::bit_cast<std::uint32_t>(Symbol{0, ac_table, 0});
      bits.refill();
      const DecodedSymbol first = decode_symbol(dc, bits.peek16());
      if (first.bits == 0 || out > room) return false;
      bits.drop(first.bits);
      at.dc[c] = static_cast<std::int16_t>(at.dc[c] + extend(bits.take(first.value), first.value));
      *out = make_symbol(0, place.inside ? at.dc[c] - sent[c] : 0, dc_table);
      if ((out++)->rrrrssss > 15) return false;
      Symbol* const begin = out;
      int k = 1;
      while (k < kBlockSize) {
        bits.refill();
        if (bits.next > limit) return false;
#pragma GCC unroll 5
        for (int n = 0; n < 5; ++n) {  // of S::kStepBits
          const S::Step& step = steps[bits.window >> (64 - S::kStepBits)];
          *out++ = std::bit_cast<Symbol>(std::bit_cast<std::uint32_t>(step.symbol) | of_ac);
          k += step.advance;
          bits.drop(step.length);
          if (k >= kBlockSize) break;
        }
        if (k < S::kLong) continue;
        bits.refill();
        const DecodedSymbol symbol = decode_symbol(ac, bits.peek16());
        const int run = symbol.value >> 4, ssss = symbol.value & 15;
        if (symbol.bits == 0) return false;
        bits.drop(symbol.bits);
        out[-1] = {static_cast<std::uint8_t>(symbol.value), ac_table,
                   static_cast<std::uint16_t>(bits.take(ssss))};
        k += (ssss == 0 && run < 15 ? S::kEndOfBlock : run + 1) - S::kLong;
      }
      if (k > kBlockSize && k < S::kEndOfBlock) return false;  // a run leaves the block
      if (place.inside)
        sent[c] = at.dc[c];
      else
        out = begin;
      if (out > begin && k != kBlockSize) --out;  // EOB
      if (out > begin && k == kBlockSize && out[-1].rrrrssss != kZrl) continue;
      while (out > begin && out[-1].rrrrssss == kZrl) --out;
      *out++ = {kEob, ac_table, 0};
    }
  at.bit = bits.position(s.clean_);
  interval.at = at;
  s.count_ = static_cast<std::uint64_t>(out - s.symbols_.data());
  s.interval_end_.data()[s.intervals_++] = s.count_;
  return at.bit <= interval.end_bit;
}

bool ScanSymbols::read(IntervalState& interval) { return read_interval(*this, interval); }

}  // namespace zerorun
