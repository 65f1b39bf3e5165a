// A program with this source fills shared memory with noise before each of its tests. A kernel that
// reads memory which it did not write may pass in a fresh process, where that is mostly zero.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "tests/cuda/shared_noise.hpp"
#include "tests/support/gpu.hpp"

namespace zerorun::test {
namespace {

class SharedNoise : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo&) override {
    if (!gpu_absence().empty()) return;
    EXPECT_EQ(fill_shared_memory(++tests_), cudaSuccess);
  }
  std::uint32_t tests_ = 0;
};

[[maybe_unused]] const bool kAdded = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new SharedNoise);  // which owns it
  return true;
}();

}  // namespace
}  // namespace zerorun::test
