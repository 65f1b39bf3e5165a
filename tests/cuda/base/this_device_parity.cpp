// The limits of the device: what CUDA says of it, what is published of its capability, and what a
// test may pretend.
// SPDX-License-Identifier: MIT
#include "cuda/base/this_device.hpp"

#include <algorithm>

#include "cuda/base/this_device.hpp"
#include "tests/support/gpu.hpp"

namespace zerorun::test {
namespace {

using ThisDeviceParity = GpuTest;

const KnownDevice& this_device() {
  const KnownDevice* device = nullptr;
  EXPECT_EQ(current_device(device), cudaSuccess);
  return *device;
}

TEST_F(ThisDeviceParity, HasTheLimitsOfItsCapability) {
  const DeviceLimits& real = this_device().real;
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

TEST_F(ThisDeviceParity, IsWhatItIsUnlessATestPretends) {
  const KnownDevice& device = this_device();
  EXPECT_EQ(device.limits.pretended, test_capability() != 0);
  EXPECT_FALSE(device.real.pretended);
  EXPECT_TRUE(device.limits.pretended || device.limits == device.real);
  EXPECT_LE(device.limits.shared_of_cta, device.real.shared_of_cta);
}

}  // namespace
}  // namespace zerorun::test
