// The CUDA backend's stages.
// SPDX-License-Identifier: MIT
#include "codec/core/cuda_backend.hpp"
#include "codec/core/stage_table.hpp"

namespace zerorun {

const StageTable& cuda_stages() {
  static constexpr StageTable kTable{
      .color_subsample = nullptr,
      .fdct_quant = nullptr,
      .dc_diff = nullptr,
      .zero_run = nullptr,
      .symbol_histogram = nullptr,
      .huffman_encode = nullptr,
      .bit_pack = nullptr,
      .byte_stuff = nullptr,
      .byte_unstuff = nullptr,
      .huffman_sync = nullptr,
      .huffman_decode = nullptr,
      .zero_run_expand = nullptr,
      .dc_predict = nullptr,
      .dequant_idct = nullptr,
      .color_upsample = nullptr,
  };
  return kTable;
}

}  // namespace zerorun
