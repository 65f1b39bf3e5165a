// Every stage of the encoder has its CUDA twin. Needs no device.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "codec/core/cuda_backend.hpp"

namespace zerorun::test {
namespace {

TEST(CudaStageTable, EncodeStagesAreThere) {
  const StageTable& stages = cuda_stages();
  EXPECT_NE(stages.color_subsample, nullptr);
  EXPECT_NE(stages.fdct_quant, nullptr);
  EXPECT_NE(stages.dc_diff, nullptr);
  EXPECT_NE(stages.zero_run, nullptr);
  EXPECT_NE(stages.symbol_histogram, nullptr);
  EXPECT_NE(stages.huffman_encode, nullptr);
  EXPECT_NE(stages.bit_pack, nullptr);
  EXPECT_NE(stages.byte_stuff, nullptr);
}

}  // namespace
}  // namespace zerorun::test
