// The scans of a progressive frame.
// SPDX-License-Identifier: MIT
#include "codec/decode/progressive_scan.hpp"

#include <algorithm>
#include <cstring>

#include "codec/arith/host_device.hpp"
#include "codec/arith/symbol.hpp"
#include "codec/decode/block_decoder.hpp"

namespace zerorun {
namespace {

constexpr int kAcFirstBits = 11;

/// A block takes at most this many bytes: 63 codewords with 16 and 15 bits.
constexpr std::ptrdiff_t kBlockBytes = 256;

std::int16_t shifted(std::int32_t value, int al) {
  return static_cast<std::int16_t>(static_cast<std::uint32_t>(value) << al);
}

/// The reader of decode_dc().
struct Bits : ByteWindow {
  const std::uint8_t* bytes;

  Bits(const std::uint8_t* clean, std::uint64_t bit)
      : ByteWindow(ByteWindow::at(clean, bit)), bytes(clean) {}
  std::uint64_t position() const { return ByteWindow::position(bytes); }
  std::uint64_t take_refilled(int count) {
    refill();
    return take(count);
  }
};

}  // namespace

/// A scan of AC, which has one component.
struct AcScan {
  /// One AC symbol of a first scan, with its appended bits.
  struct Step {
    std::int16_t value;    // with advance 0: n of EOBn, whose appended bits follow
    std::uint8_t length;   // bits; 0: take decode_symbol()
    std::uint8_t advance;  // of the zig-zag index: to the one behind `value`. 0: EOBn
  };

  StoredBlocks blocks;
  int ss, se, al;
  bool is_refinement;
  std::uint64_t band;           // bits ss to se
  std::uint64_t end_bit;        // of the interval
  const std::uint8_t* far_end;  // a block that starts before it ends in the interval
  std::int64_t eob_run;         // EOBRUN
  HuffmanDecodeTable table;
  Step steps[1 << kAcFirstBits];

  void fill_steps() {
    for (std::uint32_t i = 0; i < (1u << kAcFirstBits); ++i) {
      const ShortCode code = short_code(table, i, kAcFirstBits);
      const bool is_eob = code.ends_block();
      const auto value = is_eob ? code.symbol >> 4 : extend(code.appended, code.symbol % 16);
      steps[i] = {};
      if (code.length > 0)
        steps[i] = {static_cast<std::int16_t>(value), static_cast<std::uint8_t>(code.length),
                    static_cast<std::uint8_t>(is_eob ? 0 : (code.symbol >> 4) + 1)};
    }
  }

  Errc take_long_step(Bits& bits, Step& step) const {
    const DecodedSymbol symbol = decode_symbol(table, bits.peek16());
    const int run = symbol.value >> 4, ssss = symbol.value & 15;
    const bool is_eob = ssss == 0 && run < 15;
    const Errc fault = check_code(symbol.bits, is_eob ? run : ssss, bits.position(), end_bit);
    if (fault != Errc::ok) return fault;
    bits.drop(symbol.bits);
    step.advance = static_cast<std::uint8_t>(is_eob ? 0 : run + 1);
    step.value = static_cast<std::int16_t>(is_eob ? run : extend(bits.take(ssss), ssss));
    return Errc::ok;
  }

  /// T.81 G.1.2.2. kNearEnd: the interval may end inside the block.
  template <bool kNearEnd>
  [[gnu::always_inline]] inline Errc first_block(Bits& bits, std::int64_t block) {
    std::int16_t* const out = blocks.ac + block * kBlockSize;
    std::uint64_t& nonzero = blocks.nonzero[block];
    for (int k = ss; k <= se;) {
      bits.refill();
      Step step = steps[bits.window >> (64 - kAcFirstBits)];
      if (kNearEnd || step.length == 0) {
        if (const Errc fault = take_long_step(bits, step); fault != Errc::ok) return fault;
      } else {
        bits.drop(step.length);
      }
      if (step.advance == 0) {
        eob_run = (std::int64_t{1} << step.value) + bits.take(step.value);
        return Errc::ok;
      }
      k += step.advance;
      if (k > se + 1) return Errc::run_past_block_end;
      if (step.value == 0) continue;  // ZRL
      if (nonzero == 0) std::memset(out, 0, kBlockSize * sizeof *out);
      const std::int16_t value = shifted(step.value, al);
      out[kNaturalOfZigzag[static_cast<std::size_t>(k - 1)]] = value;
      const std::uint64_t bit = std::uint64_t{1} << (k - 1);
      nonzero = value != 0 ? nonzero | bit : nonzero & ~bit;
    }
    return Errc::ok;
  }

  /// T.81 G.1.2.3, Figure G.7. The block's correction bits are gathered, and applied at its end.
  template <bool kNearEnd>
  [[gnu::always_inline]] inline Errc refine_block(Bits& bits, std::int64_t block) {
    std::int16_t* const out = blocks.ac + block * kBlockSize;
    const std::uint64_t history = blocks.nonzero[block];
    std::uint64_t nonzero = history;
    std::uint64_t left = band;  // of the band, what lies behind the last symbol
    std::uint64_t corrected = 0,
                  bit_queue = 0;  // coefficients; one bit each, the first one highest
    Errc fault = Errc::ok;
    const auto correct = [&](std::uint64_t which) {
      const int count = __builtin_popcountll(which);
      if (kNearEnd && bits.position() + static_cast<std::uint64_t>(count) > end_bit) {
        fault = Errc::truncated;
        return;
      }
      corrected |= which;
      if (count > 32) bit_queue = bit_queue << (count - 32) | bits.take_refilled(count - 32);
      const int rest = std::min(count, 32);
      bit_queue = bit_queue << rest | bits.take_refilled(rest);
    };
    while (eob_run == 0 && left != 0) {
      bits.refill();
      const DecodedSymbol symbol = decode_symbol(table, bits.peek16());
      const int run = symbol.value >> 4, ssss = symbol.value & 15;
      const bool is_eob = ssss == 0 && run < 15;
      if (kNearEnd || symbol.bits == 0)
        fault = check_code(symbol.bits, is_eob ? run : ssss, bits.position(), end_bit);
      if (ssss > 1) fault = Errc::bad_huffman_code;
      if (fault != Errc::ok) break;
      bits.drop(symbol.bits);
      if (is_eob) {
        eob_run = (std::int64_t{1} << run) + bits.take(run);
        break;
      }
      const int sign = 2 * static_cast<int>(bits.take(ssss)) - 1;
      std::uint64_t zeros = left & ~nonzero;
      for (int skipped = 0; skipped < run; ++skipped) zeros &= zeros - 1;
      if (zeros == 0) {
        fault = Errc::run_past_block_end;
        break;
      }
      const std::uint64_t bit = zeros & (0 - zeros), before = bit - 1;
      correct(left & history & before);
      if (fault != Errc::ok) break;
      left &= ~(bit | before);
      if (ssss == 0) continue;  // ZRL
      if (nonzero == 0) std::memset(out, 0, kBlockSize * sizeof *out);
      out[kNaturalOfZigzag[static_cast<std::size_t>(__builtin_ctzll(bit))]] = shifted(sign, al);
      nonzero |= bit;
    }
    if (eob_run > 0 && fault == Errc::ok) {
      correct(left & history);
      --eob_run;
    }
    blocks.nonzero[block] = nonzero;
    while (corrected != 0) {
      const int k = 63 - __builtin_clzll(corrected);
      corrected ^= std::uint64_t{1} << k;
      std::int16_t& value = out[kNaturalOfZigzag[static_cast<std::size_t>(k)]];
      // As in libjpeg, a bit that is set stays as it is. No branch: the bits are random.
      const int is_negative = value >> 15;
      const int add = (static_cast<int>(bit_queue & 1) & ~(value >> al)) << al;
      value = static_cast<std::int16_t>(value + ((add ^ is_negative) - is_negative));
      bit_queue >>= 1;
    }
    return fault;
  }
};

/// Both decode the blocks from `at` on up to `last` or the first fault, with which `at.bit` is
/// where its block starts.
ZR_MULTIVERSION static Errc first_blocks(AcScan& scan, Bits& callers_bits, McuStart& at,
                                         std::int64_t last) {
  Bits bits = callers_bits;  // in registers
  Errc fault = Errc::ok;
  while (at.mcu < last) {
    at.bit = bits.position();
    scan.eob_run = 1;
    fault = bits.next < scan.far_end ? scan.first_block<false>(bits, at.mcu)
                                     : scan.first_block<true>(bits, at.mcu);
    if (fault != Errc::ok) break;
    at.mcu += scan.eob_run;  // the blocks of a run stay as they are
  }
  callers_bits = bits;
  return fault;
}

ZR_MULTIVERSION static Errc refine_blocks(AcScan& scan, Bits& callers_bits, McuStart& at,
                                          std::int64_t last) {
  Bits bits = callers_bits;  // in registers
  const std::uint64_t* const nonzero = scan.blocks.nonzero;
  Errc fault = Errc::ok;
  while (at.mcu < last) {
    if (scan.eob_run > 0 && (nonzero[at.mcu] & scan.band) == 0) {  // nothing to correct
      const std::int64_t first = at.mcu, stop = std::min(last, first + scan.eob_run);
      while (at.mcu < stop && (nonzero[at.mcu] & scan.band) == 0) ++at.mcu;
      scan.eob_run -= at.mcu - first;
      continue;
    }
    at.bit = bits.position();
    fault = bits.next < scan.far_end ? scan.refine_block<false>(bits, at.mcu)
                                     : scan.refine_block<true>(bits, at.mcu);
    if (fault != Errc::ok) break;
    ++at.mcu;
  }
  callers_bits = bits;
  return fault;
}

ProgressiveScanDecoder::ProgressiveScanDecoder() : ac_(std::make_unique<AcScan>()) {}
ProgressiveScanDecoder::~ProgressiveScanDecoder() = default;

void ProgressiveScanDecoder::begin_scan(const ScanHeader& scan, const std::uint8_t* clean,
                                        const StoredBlocks* blocks) {
  scan_ = &scan;
  clean_ = clean;
  for (std::size_t i = 0; i < scan.components.size(); ++i) blocks_[i] = blocks[scan.components[i]];
  for (std::size_t d = 0; d < 4; ++d) {
    if (scan.dc[d]) fill_decode_table(*scan.dc[d], dc_[d]);
    if (scan.ac[d]) fill_decode_table(*scan.ac[d], ac_->table);
  }
  if (scan.is_dc()) return;
  ac_->blocks = blocks_[0];
  ac_->ss = scan.ss;
  ac_->se = scan.se;
  ac_->al = scan.al;
  ac_->is_refinement = scan.is_refinement();
  ac_->band = ~std::uint64_t{0} >> (63 - scan.se) & ~std::uint64_t{0} << scan.ss;
  if (!scan.is_refinement()) ac_->fill_steps();
}

void ProgressiveScanDecoder::decode(IntervalState& interval,
                                    const std::function<void(std::int32_t)>& begin_row) {
  if (scan_->is_dc()) return decode_dc(interval, begin_row);
  Bits bits(clean_, interval.at.bit);
  AcScan& ac = *ac_;
  ac.end_bit = interval.end_bit;
  ac.eob_run = 0;
  const auto end_byte = static_cast<std::ptrdiff_t>(interval.end_bit / 8);
  ac.far_end = clean_ + end_byte - std::min(end_byte, kBlockBytes);
  const auto decode_blocks = ac.is_refinement ? refine_blocks : first_blocks;
  const std::int64_t wide = ac.blocks.blocks_wide;  // an MCU is a block (T.81 A.2.2)
  McuStart& at = interval.at;
  while (at.mcu < interval.end_mcu && interval.fault == Errc::ok) {
    const std::int64_t row = at.mcu / wide;
    begin_row(static_cast<std::int32_t>(row));
    interval.fault = decode_blocks(ac, bits, at, std::min((row + 1) * wide, interval.end_mcu));
    at.mcu = std::min(at.mcu, interval.end_mcu);  // a run of EOBs may be too long
  }
  if (interval.fault == Errc::ok) at.bit = bits.position();
}

/// Null for a block of MCU padding.
std::int16_t* ProgressiveScanDecoder::dc_at(std::int64_t mcu, std::int32_t index) const {
  const BlockPlace place = place_block(scan_->layout, mcu, index);
  const StoredBlocks& blocks = blocks_[place.component];
  return place.inside ? blocks.dc + std::int64_t{place.y} * blocks.blocks_wide + place.x : nullptr;
}

void ProgressiveScanDecoder::decode_dc(IntervalState& interval,
                                       const std::function<void(std::int32_t)>& begin_row) {
  Bits bits(clean_, interval.at.bit);
  const std::uint64_t end_bit = interval.end_bit;
  const ScanLayout& layout = scan_->layout;
  McuStart& at = interval.at;
  for (const std::int64_t first = at.mcu; at.mcu < interval.end_mcu; ++at.mcu) {
    if (at.mcu == first || at.mcu % layout.mcus_wide == 0)
      begin_row(static_cast<std::int32_t>(at.mcu / layout.mcus_wide));
    for (std::int32_t b = 0; b < layout.blocks_per_mcu; ++b) {
      const int c = layout.block_component[b];
      std::int16_t* const dc = dc_at(at.mcu, b);
      at.bit = bits.position();
      if (scan_->is_refinement()) {
        bits.refill();
        if (at.bit + 1 > end_bit) interval.fault = Errc::truncated;
        if (interval.fault != Errc::ok) return;
        const std::uint32_t bit = bits.take(1) << scan_->al;
        if (dc != nullptr) *dc = static_cast<std::int16_t>(*dc | static_cast<std::int32_t>(bit));
        continue;
      }
      const DecodedPair diff = zerorun::decode_dc(bits, dc_[layout.component[c].dc_table], end_bit);
      interval.fault = diff.fault;
      if (interval.fault != Errc::ok) return repeat_dc(interval, b);
      at.dc[c] = static_cast<std::int16_t>(at.dc[c] + diff.pair.level);
      if (dc != nullptr) *dc = shifted(at.dc[c], scan_->al);
    }
  }
  at.bit = bits.position();
}

/// Rows are filled at once: many scans without data may follow each other.
void ProgressiveScanDecoder::repeat_dc(const IntervalState& interval, std::int32_t first_block) {
  const ScanLayout& layout = scan_->layout;
  std::int64_t mcu = interval.at.mcu;
  for (std::int32_t b = first_block; b < layout.blocks_per_mcu; ++b)
    if (std::int16_t* const dc = dc_at(mcu, b); dc != nullptr)
      *dc = shifted(interval.at.dc[layout.block_component[b]], scan_->al);
  for (++mcu; mcu < interval.end_mcu;) {
    const std::int64_t mcu_y = mcu / layout.mcus_wide, row = mcu_y * layout.mcus_wide;
    const std::int64_t stop = std::min(row + layout.mcus_wide, interval.end_mcu);
    for (std::int32_t c = 0; c < layout.components; ++c) {
      const ScanLayout::Component& shape = layout.component[c];
      const StoredBlocks& blocks = blocks_[c];
      const std::int64_t x = (mcu - row) * shape.h;
      const std::int64_t x_end = std::min<std::int64_t>((stop - row) * shape.h, blocks.blocks_wide);
      const std::int64_t y_end = std::min<std::int64_t>((mcu_y + 1) * shape.v, blocks.blocks_high);
      for (std::int64_t y = mcu_y * shape.v; y < y_end && x < x_end; ++y)
        std::fill(blocks.dc + y * blocks.blocks_wide + x,
                  blocks.dc + y * blocks.blocks_wide + x_end,
                  shifted(interval.at.dc[c], scan_->al));
    }
    mcu = stop;
  }
}

}  // namespace zerorun
