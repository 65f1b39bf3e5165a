// The scans of a progressive frame.
// SPDX-License-Identifier: MIT
#include "codec/decode/progressive_scan.hpp"

#include <algorithm>
#include <cstring>

#include "codec/arith/symbol.hpp"
#include "codec/decode/block_decoder.hpp"

namespace zerorun {
namespace {

/// A block takes at most this many bytes: 63 codewords with 16 and 15 bits.
constexpr std::ptrdiff_t kBlockBytes = 256;

std::int16_t shifted(std::int32_t value, int al) {
  return static_cast<std::int16_t>(static_cast<std::uint32_t>(value) << al);
}

void fill_steps(const HuffmanDecodeTable& table, AcFirstStep* steps) {
  static_assert(kAcFirstBits >= kLookupBits);
  for (std::uint32_t i = 0; i < (1u << kAcFirstBits); ++i) {
    AcFirstStep& step = steps[i];
    step = {};
    const std::uint32_t entry = table.lookup[i >> (kAcFirstBits - kLookupBits)];
    const int bits = static_cast<int>(entry >> 8), run = entry >> 4 & 15, ssss = entry & 15;
    if (bits == 0) continue;
    if (ssss == 0 && run < 15) {
      step = {static_cast<std::int16_t>(run), static_cast<std::uint8_t>(bits), 0};
    } else if (const int spare = kAcFirstBits - bits - ssss; spare >= 0) {
      const std::uint32_t appended = i >> spare & ((1u << ssss) - 1);
      step = {static_cast<std::int16_t>(extend(appended, ssss)),
              static_cast<std::uint8_t>(bits + ssss), static_cast<std::uint8_t>(run + 1)};
    }
  }
}

}  // namespace

void StoredBlocks::copy_block(std::int64_t block, std::int16_t* out) const {
  if (nonzero[block] == 0)
    std::memset(out, 0, kBlockSize * sizeof *out);
  else
    std::memcpy(out, ac + block * kBlockSize, kBlockSize * sizeof *out);
  out[0] = dc[block];
}

/// A reader like BitReader that loads eight bytes at a time and may read behind the end.
struct ProgressiveScanDecoder::Bits {
  const std::uint8_t* bytes;
  const std::uint8_t* next;  // the first byte that has bits outside `window`
  std::uint64_t window = 0;  // the next bit is the highest
  int available = 0;         // bits of `window` that count

  Bits(const std::uint8_t* clean, std::uint64_t bit) : bytes(clean), next(clean + bit / 8) {
    refill();
    drop(static_cast<int>(bit % 8));
  }
  /// Afterwards at least 56 bits are available.
  void refill() {
    std::uint64_t word;
    std::memcpy(&word, next, sizeof word);
    window |= __builtin_bswap64(word) >> available;
    next += (63 - available) >> 3;
    available |= 56;
  }
  std::uint32_t peek16() const { return static_cast<std::uint32_t>(window >> 48); }
  void drop(int count) {
    window <<= count;
    available -= count;
  }
  /// 0..16 bits, which are consumed.
  std::uint32_t take(int count) {
    const auto value = static_cast<std::uint32_t>((window >> 1) >> (63 - count));
    drop(count);
    return value;
  }
  std::uint64_t position() const {
    return static_cast<std::uint64_t>((next - bytes) * 8 - available);
  }
};

void ProgressiveScanDecoder::begin_scan(const ScanHeader& scan, const std::uint8_t* clean,
                                        const StoredBlocks* blocks) {
  scan_ = &scan;
  clean_ = clean;
  for (std::size_t i = 0; i < scan.components.size(); ++i) blocks_[i] = blocks[scan.components[i]];
  band_ = ~std::uint64_t{0} >> (63 - scan.se) & ~std::uint64_t{0} << scan.ss;
  for (std::size_t d = 0; d < 4; ++d) {
    if (scan.dc[d]) fill_decode_table(*scan.dc[d], dc_[d]);
    if (scan.ac[d]) fill_decode_table(*scan.ac[d], ac_);
  }
  if (!scan.is_dc() && !scan.is_refinement()) fill_steps(ac_, step_);
}

void ProgressiveScanDecoder::decode(IntervalState& interval, const BeginRow& begin_row) {
  Bits bits(clean_, interval.at.bit);
  end_bit_ = interval.end_bit;
  eob_run_ = 0;
  if (scan_->is_dc())
    decode_dc(bits, interval, begin_row);
  else
    decode_ac(bits, interval, begin_row);
}

/// Null for a block of MCU padding.
std::int16_t* ProgressiveScanDecoder::dc_at(std::int64_t mcu_x, std::int64_t mcu_y,
                                            std::int32_t block) const {
  const ScanLayout& layout = scan_->layout;
  const int c = layout.block_component[block];
  const std::int64_t x = mcu_x * layout.component[c].h + layout.block_x[block];
  const std::int64_t y = mcu_y * layout.component[c].v + layout.block_y[block];
  if (x >= blocks_[c].blocks_wide || y >= blocks_[c].blocks_high) return nullptr;
  return blocks_[c].dc + y * blocks_[c].blocks_wide + x;
}

void ProgressiveScanDecoder::decode_dc(Bits& bits, IntervalState& interval,
                                       const BeginRow& begin_row) {
  const ScanLayout& layout = scan_->layout;
  McuStart& at = interval.at;
  std::int64_t mcu_x = at.mcu % layout.mcus_wide, mcu_y = at.mcu / layout.mcus_wide;
  begin_row(static_cast<std::int32_t>(mcu_y));
  for (; at.mcu < interval.end_mcu; ++at.mcu, ++mcu_x) {
    if (mcu_x == layout.mcus_wide) {
      mcu_x = 0;
      begin_row(static_cast<std::int32_t>(++mcu_y));
    }
    for (std::int32_t b = 0; b < layout.blocks_per_mcu; ++b) {
      const int c = layout.block_component[b];
      std::int16_t* const dc = dc_at(mcu_x, mcu_y, b);
      at.bit = bits.position();
      if (scan_->is_refinement()) {
        bits.refill();
        if (at.bit + 1 > end_bit_) interval.fault = Errc::truncated;
        if (interval.fault != Errc::ok) return;
        const std::uint32_t bit = bits.take(1) << scan_->al;
        if (dc != nullptr) *dc = static_cast<std::int16_t>(*dc | static_cast<std::int32_t>(bit));
        continue;
      }
      const DecodedPair diff =
          zerorun::decode_dc(bits, dc_[layout.component[c].dc_table], end_bit_);
      interval.fault = diff.fault;
      if (interval.fault != Errc::ok) return repeat_dc(interval, b);
      at.dc[c] = static_cast<std::int16_t>(at.dc[c] + diff.pair.level);
      if (dc != nullptr) *dc = shifted(at.dc[c], scan_->al);
    }
  }
  at.bit = bits.position();
}

void ProgressiveScanDecoder::repeat_dc(const IntervalState& interval, std::int32_t first_block) {
  const ScanLayout& layout = scan_->layout;
  for (std::int64_t mcu = interval.at.mcu; mcu < interval.end_mcu; ++mcu, first_block = 0)
    for (std::int32_t b = first_block; b < layout.blocks_per_mcu; ++b)
      if (std::int16_t* const dc = dc_at(mcu % layout.mcus_wide, mcu / layout.mcus_wide, b);
          dc != nullptr)
        *dc = shifted(interval.at.dc[layout.block_component[b]], scan_->al);
}

/// One component: an MCU is a block (T.81 A.2.2).
void ProgressiveScanDecoder::decode_ac(Bits& bits, IntervalState& interval,
                                       const BeginRow& begin_row) {
  McuStart& at = interval.at;
  const std::int64_t wide = scan_->layout.mcus_wide;
  const std::uint8_t* const far_end =
      clean_ + end_bit_ / 8 - std::min(static_cast<std::ptrdiff_t>(end_bit_ / 8), kBlockBytes);
  const bool refines = scan_->is_refinement();
  const std::uint64_t* const nonzero = blocks_[0].nonzero;
  for (std::int64_t row_end = at.mcu; at.mcu < interval.end_mcu;) {
    if (at.mcu >= row_end) {
      begin_row(static_cast<std::int32_t>(at.mcu / wide));
      row_end = std::min((at.mcu / wide + 1) * wide, interval.end_mcu);
    }
    if (eob_run_ > 0 && (nonzero[at.mcu] & band_) == 0) {  // nothing to refine
      const std::int64_t stop = std::min(at.mcu + eob_run_, row_end), first = at.mcu;
      while (at.mcu < stop && (nonzero[at.mcu] & band_) == 0) ++at.mcu;
      eob_run_ -= at.mcu - first;
      continue;
    }
    at.bit = bits.position();
    const bool is_near = bits.next >= far_end;
    if (refines)
      interval.fault =
          is_near ? refine_block<true>(bits, at.mcu) : refine_block<false>(bits, at.mcu);
    else
      interval.fault = is_near ? first_block<true>(bits, at.mcu) : first_block<false>(bits, at.mcu);
    if (interval.fault != Errc::ok) return;
    ++at.mcu;
    if (!refines && eob_run_ > 0) {  // the blocks of a first scan's run stay as they are
      at.mcu = std::min(at.mcu + eob_run_ - 1, interval.end_mcu);
      eob_run_ = 0;
    }
  }
  at.bit = bits.position();
}

Errc ProgressiveScanDecoder::take_long_step(Bits& bits, AcFirstStep& step) const {
  const DecodedSymbol symbol = decode_symbol(ac_, bits.peek16());
  const int run = symbol.value >> 4, ssss = symbol.value & 15;
  const bool is_eob = ssss == 0 && run < 15;
  const Errc fault = check_code(symbol.bits, is_eob ? run : ssss, bits.position(), end_bit_);
  if (fault != Errc::ok) return fault;
  bits.drop(symbol.bits);
  step.advance = static_cast<std::uint8_t>(is_eob ? 0 : run + 1);
  step.value = static_cast<std::int16_t>(is_eob ? run : extend(bits.take(ssss), ssss));
  return Errc::ok;
}

/// T.81 G.1.2.2. kNearEnd: the interval may end inside the block.
template <bool kNearEnd>
Errc ProgressiveScanDecoder::first_block(Bits& bits, std::int64_t block) {
  const StoredBlocks& blocks = blocks_[0];
  std::int16_t* const out = blocks.ac + block * kBlockSize;
  std::uint64_t& nonzero = blocks.nonzero[block];
  const int se = scan_->se, al = scan_->al;
  for (int k = scan_->ss; k <= se;) {
    bits.refill();
    AcFirstStep step = step_[bits.window >> (64 - kAcFirstBits)];
    if (kNearEnd || step.length == 0) {
      if (const Errc fault = take_long_step(bits, step); fault != Errc::ok) return fault;
    } else {
      bits.drop(step.length);
    }
    if (step.advance == 0) {
      eob_run_ = (std::int64_t{1} << step.value) + bits.take(step.value);
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

/// T.81 G.1.2.3, Figure G.7.
template <bool kNearEnd>
Errc ProgressiveScanDecoder::refine_block(Bits& bits, std::int64_t block) {
  const StoredBlocks& blocks = blocks_[0];
  std::int16_t* const out = blocks.ac + block * kBlockSize;
  std::uint64_t& nonzero = blocks.nonzero[block];
  std::uint64_t left = band_;  // of the band, what lies behind the last symbol
  while (eob_run_ == 0 && left != 0) {
    bits.refill();
    const DecodedSymbol symbol = decode_symbol(ac_, bits.peek16());
    const int run = symbol.value >> 4, ssss = symbol.value & 15;
    const bool is_eob = ssss == 0 && run < 15;
    if (kNearEnd || symbol.bits == 0) {
      const Errc fault = check_code(symbol.bits, is_eob ? run : ssss, bits.position(), end_bit_);
      if (fault != Errc::ok) return fault;
    }
    if (ssss > 1) return Errc::bad_huffman_code;
    bits.drop(symbol.bits);
    if (is_eob) {
      eob_run_ = (std::int64_t{1} << run) + bits.take(run);
      break;
    }
    const std::int16_t value = shifted(ssss == 0 ? 0 : bits.take(1) != 0 ? 1 : -1, scan_->al);
    std::uint64_t zeros = left & ~nonzero;
    for (int skipped = 0; skipped < run; ++skipped) zeros &= zeros - 1;
    if (zeros == 0) return Errc::run_past_block_end;
    const std::uint64_t bit = zeros & (0 - zeros);
    if (!correct<kNearEnd>(bits, out, left & nonzero & (bit - 1))) return Errc::truncated;
    left &= ~(bit | (bit - 1));
    if (value == 0) continue;  // ZRL
    if (nonzero == 0) std::memset(out, 0, kBlockSize * sizeof *out);
    out[kNaturalOfZigzag[static_cast<std::size_t>(__builtin_ctzll(bit))]] = value;
    nonzero |= bit;
  }
  if (eob_run_ == 0) return Errc::ok;
  if (!correct<kNearEnd>(bits, out, left & nonzero)) return Errc::truncated;
  --eob_run_;
  return Errc::ok;
}

/// One bit for each coefficient of `which`: the next bit of its magnitude. False: the interval ends
/// before that.
template <bool kNearEnd>
bool ProgressiveScanDecoder::correct(Bits& bits, std::int16_t* block, std::uint64_t which) const {
  if (kNearEnd &&
      bits.position() + static_cast<std::uint64_t>(__builtin_popcountll(which)) > end_bit_)
    return false;
  const int al = scan_->al;
  while (which != 0) {
    bits.refill();
    for (int taken = 0; taken < 56 && which != 0; ++taken, which &= which - 1) {
      std::int16_t& value =
          block[kNaturalOfZigzag[static_cast<std::size_t>(__builtin_ctzll(which))]];
      // As in libjpeg, a bit that is set stays as it is. No branch: the bits are random.
      const int sign = value >> 15;
      const auto bit = static_cast<int>(bits.take(1)) & ~(value >> al);
      value = static_cast<std::int16_t>(value + (((bit << al) ^ sign) - sign));
    }
  }
  return true;
}

}  // namespace zerorun
