// Decodes the MCUs of a scan by the stages of the reference, from any MCU on whose state is known.
// SPDX-License-Identifier: MIT
#include "codec/pipeline/mcu_decoder.hpp"

#include <algorithm>

#include "codec/pipeline/stage_table.hpp"

namespace zerorun {
namespace {

/// Blocks that go through the stages together, so that pairs and coefficients stay in the cache.
constexpr std::int64_t kSliceBlocks = 512;

}  // namespace

void McuDecoder::begin_scan(const Scan& scan) {
  scan_ = scan;
  const ScanHeader& header = *scan.header;
  for (std::size_t d = 0; d < 4; ++d) {
    if (header.dc[d]) fill_decode_table(*header.dc[d], huffman_.dc[d]);
    if (header.ac[d]) fill_decode_table(*header.ac[d], huffman_.ac[d]);
  }
  for (std::size_t i = 0; i < header.components.size(); ++i)
    std::copy(header.quant[i].begin(), header.quant[i].end(), dequant_.table[i]);
}

void McuDecoder::decode(IntervalState& interval, std::int64_t last, int worker) {
  const std::int64_t slice_mcus =
      std::max<std::int64_t>(1, kSliceBlocks / scan_.header->layout.blocks_per_mcu);
  while (interval.at.mcu < last && interval.fault == Errc::ok)
    decode_slice(interval, std::min(slice_mcus, last - interval.at.mcu),
                 scratch_[static_cast<std::size_t>(worker)]);
}

void McuDecoder::decode_slice(IntervalState& interval, std::int64_t mcus, Scratch& scratch) {
  const ScanLayout& layout = scan_.header->layout;
  McuStart& at = interval.at;
  std::int64_t blocks = mcus * layout.blocks_per_mcu;
  RunLevel* pairs = scratch.pairs.reserve(blocks * kBlockSize);
  std::uint8_t* pair_count = scratch.pair_count.reserve(blocks);
  std::int16_t* coefficients = scratch.coefficients.reserve(blocks * kBlockSize);
  std::int16_t* diff = scratch.diff.reserve(blocks);
  BitCursor cursor{at.bit, interval.end_bit, 0, blocks, 0, Errc::ok};
  Exec exec;  // CPU stages cannot fail
  (void)stages_.huffman_decode({layout, scan_.clean, scan_.clean_bytes, &huffman_, &cursor, 1,
                                nullptr, 0, nullptr, pairs, pair_count},
                               exec);
  interval.fault = cursor.fault;
  at.bit = cursor.bit;
  if (cursor.fault != Errc::ok) mcus = cursor.good_blocks / layout.blocks_per_mcu + 1;
  blocks = mcus * layout.blocks_per_mcu;
  (void)stages_.zero_run_expand({blocks, pairs, pair_count, coefficients, diff}, exec);
  (void)stages_.dc_predict({layout, at.mcu, mcus, diff, coefficients, at.dc}, exec);
  output(at.mcu, mcus, coefficients);
  at.mcu += mcus;
}

void McuDecoder::output(std::int64_t first_mcu, std::int64_t mcus,
                        const std::int16_t* coefficients) {
  const ScanHeader& header = *scan_.header;
  if (scan_.coefficients != nullptr) {
    for (std::int64_t m = first_mcu; m < first_mcu + mcus; ++m)
      for (std::int32_t i = 0; i < header.layout.blocks_per_mcu; ++i, coefficients += kBlockSize) {
        const BlockPlace place = place_block(header.layout, m, i);
        if (!place.inside) continue;
        const StoredBlocks& to =
            scan_.coefficients
                ->blocks()[header.components[static_cast<std::size_t>(place.component)]];
        to.set_block(std::int64_t{place.y} * to.blocks_wide + place.x, coefficients);
      }
    return;
  }
  DequantIdctArgs transform{header.layout, &dequant_, first_mcu, mcus, coefficients, {}};
  for (std::size_t i = 0; i < header.components.size(); ++i)
    transform.plane[i] = scan_.planes[header.components[i]];
  Exec exec;
  (void)stages_.dequant_idct(transform, exec);
}

}  // namespace zerorun
