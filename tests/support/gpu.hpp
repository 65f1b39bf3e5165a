// Base of tests that need a GPU: without one they skip themselves, or fail where one is required.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/gpu_required.hpp"

namespace zerorun::test {

/// Why no GPU can be used; empty if one can.
inline std::string gpu_absence() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) return cudaGetErrorString(error);
  return count > 0 ? "" : "no CUDA device";
}

/// Base of all fixtures that run kernels.
template <typename Base>
class OnGpu : public Base {
 protected:
  void SetUp() override {
    const std::string absence = gpu_absence();
    if (absence.empty()) return;
    if (gpu_required()) FAIL() << "ZERORUN_REQUIRE_GPU=1, but there is no GPU: " << absence;
    GTEST_SKIP() << "needs a GPU: " << absence;
  }

  /// Waits for all kernels, so that a failed kernel fails its own test and not the next one.
  void TearDown() override {
    if (!gpu_absence().empty()) return;
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess) << cudaGetErrorString(cudaGetLastError());
  }
};

using GpuTest = OnGpu<testing::Test>;

}  // namespace zerorun::test
