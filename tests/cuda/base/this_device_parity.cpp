// The limits of the device: what CUDA says of it, and what is published of its capability.
// SPDX-License-Identifier: MIT
#include "cuda/base/this_device.hpp"

#include <algorithm>

#include "cuda/base/this_device.hpp"
#include "tests/support/gpu.hpp"

namespace zerorun::test {
namespace {

using ThisDeviceParity = GpuTest;

const DeviceLimits& this_device() {
  const DeviceLimits* limits = nullptr;
  EXPECT_EQ(current_device(limits), cudaSuccess);
  return *limits;
}

TEST_F(ThisDeviceParity, HasTheLimitsOfItsCapability) {
  const DeviceLimits& real = this_device();
  if (std::ranges::find(kCapabilities, real.capability) == std::end(kCapabilities))
    GTEST_SKIP() << "nothing is known of capability " << real.capability;
  DeviceLimits expected = limits_of_capability(real.capability);
  expected.processors = real.processors;
  int code = 0;
  ASSERT_EQ(architecture_of_code(code), cudaSuccess);
  EXPECT_GE(code, kCapabilities[0]);
  EXPECT_LE(code, real.capability);
  expected.programmatic_launches = code >= 90;
  EXPECT_TRUE(real == expected);
  EXPECT_GT(real.processors, 0u);
}

}  // namespace
}  // namespace zerorun::test
