// Every stage has its CUDA twin. Needs no device.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "cuda/stages/stages_cuda.hpp"

namespace zerorun::test {
namespace {

TEST(CudaStageTable, IsFull) {
  const StageTable& stages = cuda_stages();
#define ZR_EXPECT_STAGE(name, Args) EXPECT_NE(stages.name, nullptr) << #name;
  ZR_STAGES(ZR_EXPECT_STAGE)
#undef ZR_EXPECT_STAGE
}

}  // namespace
}  // namespace zerorun::test
