// The CPU backend's stages.
// SPDX-License-Identifier: MIT
#include "codec/pipeline/stage_table.hpp"

namespace zerorun {

const StageTable& cpu_stages() {
  static constexpr StageTable kTable{
      .color_subsample = color_subsample_cpu,
      .fdct_quant = fdct_quant_cpu,
      .dc_diff = dc_diff_cpu,
      .zero_run = zero_run_cpu,
      .symbol_histogram = symbol_histogram_cpu,
      .huffman_encode = huffman_encode_cpu,
      .group_index = group_index_cpu,
      .bit_pack = bit_pack_cpu,
      .byte_stuff = byte_stuff_cpu,
      .byte_unstuff = byte_unstuff_cpu,
      .huffman_sync = huffman_sync_cpu,
      .huffman_decode = huffman_decode_cpu,
      .zero_run_expand = zero_run_expand_cpu,
      .dc_predict = dc_predict_cpu,
      .dequant_idct = dequant_idct_cpu,
      .color_upsample = color_upsample_cpu,
  };
  return kTable;
}

}  // namespace zerorun
