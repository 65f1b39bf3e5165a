// CPU references of the stages from quantised blocks to the scan. CUDA twins: cuda/stages.
// SPDX-License-Identifier: MIT
#include "codec/encode/scan_stages.hpp"

#include <algorithm>

#include "codec/syntax/marker.hpp"

namespace zerorun {
namespace {

/// Codes one block (T.81 Figures F.1 and F.2).
Symbol* code_block(const std::int16_t* zz, std::int16_t diff, int dc_table, int ac_table,
                   Symbol* out) {
  *out++ = make_symbol(0, diff, dc_table);
  int run = 0;  // zeros before coefficient k
  for (int k = 1; k < kBlockSize; ++k) {
    if (zz[k] == 0) {
      ++run;
      continue;
    }
    for (; run > 15; run -= 16) *out++ = {kZrl, static_cast<std::uint8_t>(ac_table), 0};
    *out++ = make_symbol(run, zz[k], ac_table);
    run = 0;
  }
  if (run > 0) *out++ = {kEob, static_cast<std::uint8_t>(ac_table), 0};
  return out;
}

/// Collects codewords and stores whole bytes.
class BitWriter {
 public:
  explicit BitWriter(std::uint8_t* out) : out_(out) {}

  void put(std::uint32_t code, int bits) {
    pending_ = pending_ << bits | code;
    written_bits_ += static_cast<std::uint64_t>(bits);
    for (count_ += bits; count_ >= 8; count_ -= 8)
      *out_++ = static_cast<std::uint8_t>(pending_ >> (count_ - 8));
  }

  std::uint64_t bits() const { return written_bits_; }

  /// Fills the last byte with 1-bits; returns the position after it.
  std::uint8_t* finish() {
    if (count_ > 0) *out_++ = static_cast<std::uint8_t>(pending_ << (8 - count_) | 0xFFu >> count_);
    return out_;
  }

 private:
  std::uint8_t* out_;
  std::uint64_t pending_ = 0;
  int count_ = 0;  // bits of pending_ not yet stored, < 8 between calls
  std::uint64_t written_bits_ = 0;
};

}  // namespace

Status dc_diff_cpu(const DcDiffArgs& a, Exec&) {
  const std::int64_t interval = a.layout.interval_mcus();
  const std::int32_t per_mcu = a.layout.blocks_per_mcu;
  for (std::int64_t m = 0; m < a.mcu_count; ++m) {
    const bool interval_starts = (a.first_mcu + m) % interval == 0;
    for (std::int32_t i = 0; i < per_mcu; ++i) {
      const PreviousBlock previous = previous_block(a.layout, i);
      const std::int64_t before = (m - previous.wraps) * per_mcu + previous.index;
      const int prediction = previous.wraps && interval_starts ? 0 : a.zz[before * kBlockSize];
      const std::int64_t b = m * per_mcu + i;
      a.diff[b] = static_cast<std::int16_t>(a.zz[b * kBlockSize] - prediction);
    }
  }
  return Status::ok();
}

Status zero_run_cpu(const ZeroRunArgs& a, Exec&) {
  Symbol* out = a.symbols;
  for (std::int64_t b = 0; b < a.blocks; ++b) {
    a.block_first_symbol[b] = static_cast<std::uint32_t>(out - a.symbols);
    const auto& component =
        a.layout.component[a.layout.block_component[b % a.layout.blocks_per_mcu]];
    out = code_block(a.zz + b * kBlockSize, a.diff[b], component.dc_table, 2 + component.ac_table,
                     out);
  }
  a.block_first_symbol[a.blocks] = static_cast<std::uint32_t>(out - a.symbols);
  return Status::ok();
}

Status symbol_histogram_cpu(const SymbolHistogramArgs& a, Exec&) {
  for (std::uint32_t i = 0; i < *a.symbol_total; ++i)
    ++a.counts->count[a.symbols[i].table][a.symbols[i].rrrrssss];
  return Status::ok();
}

Status huffman_encode_cpu(const HuffmanEncodeArgs& a, Exec&) {
  for (std::uint32_t i = 0; i < *a.symbol_total; ++i) {
    const Symbol symbol = a.symbols[i];
    const int ssss = symbol.rrrrssss & 15;
    a.code[i] = a.tables->code[symbol.table][symbol.rrrrssss] << ssss | symbol.appended;
    a.code_bits[i] =
        static_cast<std::uint8_t>(a.tables->bits[symbol.table][symbol.rrrrssss] + ssss);
  }
  return Status::ok();
}

Status bit_pack_cpu(const BitPackArgs& a, Exec&) {
  std::uint8_t* out = a.bytes;
  std::int64_t interval = 0;
  for (std::int64_t b = 0; b < a.blocks; b += a.interval_blocks, ++interval) {
    a.interval_first_byte[interval] = static_cast<std::uint64_t>(out - a.bytes);
    const std::int64_t end = std::min(b + a.interval_blocks, a.blocks);
    BitWriter writer(out);
    for (std::uint32_t s = a.block_first_symbol[b]; s < a.block_first_symbol[end]; ++s)
      writer.put(a.code[s], a.code_bits[s]);
    out = writer.finish();
    a.interval_bits[interval] = writer.bits();
  }
  a.interval_first_byte[interval] = static_cast<std::uint64_t>(out - a.bytes);
  return Status::ok();
}

Status byte_stuff_cpu(const ByteStuffArgs& a, Exec&) {
  std::uint8_t* out = a.out;
  for (std::int64_t i = 0; i < a.intervals; ++i) {
    for (std::uint64_t at = a.interval_first_byte[i]; at < a.interval_first_byte[i + 1]; ++at) {
      *out++ = a.bytes[at];
      if (a.bytes[at] == 0xFF) *out++ = 0;
    }
    const std::int64_t interval = a.first_interval + i;
    if (interval + 1 < a.scan_intervals) {
      *out++ = 0xFF;
      *out++ = static_cast<std::uint8_t>(marker::kRst0 + interval % 8);
    }
  }
  *a.out_bytes = static_cast<std::uint64_t>(out - a.out);
  return Status::ok();
}

}  // namespace zerorun
