// Every stage has its CUDA twin. Needs no device.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "codec/pipeline/cuda_backend.hpp"

namespace zerorun::test {
namespace {

TEST(CudaStageTable, IsFull) {
  const StageTable& stages = cuda_stages();
  EXPECT_NE(stages.color_subsample, nullptr);
  EXPECT_NE(stages.fdct_quant, nullptr);
  EXPECT_NE(stages.dc_diff, nullptr);
  EXPECT_NE(stages.zero_run, nullptr);
  EXPECT_NE(stages.symbol_histogram, nullptr);
  EXPECT_NE(stages.huffman_encode, nullptr);
  EXPECT_NE(stages.group_index, nullptr);
  EXPECT_NE(stages.bit_pack, nullptr);
  EXPECT_NE(stages.byte_stuff, nullptr);
  EXPECT_NE(stages.byte_unstuff, nullptr);
  EXPECT_NE(stages.huffman_sync, nullptr);
  EXPECT_NE(stages.huffman_decode, nullptr);
  EXPECT_NE(stages.zero_run_expand, nullptr);
  EXPECT_NE(stages.dc_predict, nullptr);
  EXPECT_NE(stages.dequant_idct, nullptr);
  EXPECT_NE(stages.color_upsample, nullptr);
}

}  // namespace
}  // namespace zerorun::test
