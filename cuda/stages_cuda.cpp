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
      .byte_unstuff = byte_unstuff_cuda,
      .huffman_sync = huffman_sync_cuda,
      .huffman_decode = huffman_decode_cuda,
      .zero_run_expand = zero_run_expand_cuda,
      .dc_predict = dc_predict_cuda,
      .dequant_idct = dequant_idct_cuda,
      .color_upsample = color_upsample_cuda,
  };
  return kTable;
}

}  // namespace zerorun
