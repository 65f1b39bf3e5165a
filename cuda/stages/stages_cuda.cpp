// The CUDA backend's stages.
// SPDX-License-Identifier: MIT
#include "codec/pipeline/cuda_backend.hpp"
#include "codec/pipeline/stage_table.hpp"

namespace zerorun {

const StageTable& cuda_stages() {
  static constexpr StageTable kTable{
      .color_subsample = color_subsample_cuda,
      .fdct_quant = fdct_quant_cuda,
      .dc_diff = dc_diff_cuda,
      .zero_run = zero_run_cuda,
      .symbol_histogram = symbol_histogram_cuda,
      .huffman_encode = huffman_encode_cuda,
      .group_index = group_index_cuda,
      .bit_pack = bit_pack_cuda,
      .byte_stuff = byte_stuff_cuda,
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
