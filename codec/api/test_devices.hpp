// For tests: what the coders get of pretended and failing devices (codec/base/test_devices.hpp).
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <vector>

#include "codec/base/test_devices.hpp"
#include "codec/pipeline/decode_pipeline.hpp"
#include "codec/pipeline/encode_pipeline.hpp"

namespace zerorun {

/// As cuda_device().
Result<DeviceInfo> test_device(int device);
std::vector<DeviceInfo> test_devices();

/// The pipeline, in a wrapper that fails if `device` is the failing one.
std::unique_ptr<EncodePipeline> with_failures(std::unique_ptr<EncodePipeline> pipeline, int device);
std::unique_ptr<DecodePipeline> with_failures(std::unique_ptr<DecodePipeline> pipeline, int device);

}  // namespace zerorun
