// For tests: several CUDA devices on a machine that has none, and a device that fails.
// SPDX-License-Identifier: MIT
//
// ZERORUN_TEST_DEVICES=3: the CPU pretends to be three CUDA devices, and there are no others.
// ZERORUN_TEST_FAILING_DEVICE=1@20: device 1, a real one too, codes 20 frames and then fails with
// every other one. Both are read at each call; anything else than such a value means nothing.
#pragma once

#include <memory>
#include <vector>

#include "codec/pipeline/decode_pipeline.hpp"
#include "codec/pipeline/encode_pipeline.hpp"

namespace zerorun {

/// How many devices the CPU pretends to be, up to 64; 0: it does not pretend.
int test_device_count();

/// As cuda_device().
Result<DeviceInfo> test_device(int device);
std::vector<DeviceInfo> test_devices();

/// The pipeline, in a wrapper that fails if `device` is the failing one.
std::unique_ptr<EncodePipeline> with_failures(std::unique_ptr<EncodePipeline> pipeline, int device);
std::unique_ptr<DecodePipeline> with_failures(std::unique_ptr<DecodePipeline> pipeline, int device);

}  // namespace zerorun
