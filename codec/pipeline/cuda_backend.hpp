// What the CUDA backend offers to the host library; defined in cuda/, called by backend.cpp alone.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "codec/pipeline/decode_pipeline.hpp"
#include "codec/pipeline/encode_pipeline.hpp"
#include "codec/pipeline/stage_table.hpp"
#include "zerorun/backend.hpp"

namespace zerorun {

std::vector<DeviceInfo> cuda_backend_devices();

/// Why cuda_backend_devices() is empty, in the driver's words.
std::string cuda_backend_absence();

const StageTable& cuda_stages();

/// `device` is one that cuda_backend_devices() calls usable. Errors: out_of_memory, device_failure.
Result<std::unique_ptr<EncodePipeline>> make_cuda_encode_pipeline(int device);
Result<std::unique_ptr<DecodePipeline>> make_cuda_decode_pipeline(int device);

/// For every device. Errors: no_device, out_of_memory, device_failure.
Result<std::byte*> cuda_allocate_pinned(std::size_t bytes);
void cuda_release_pinned(std::byte* memory) noexcept;

}  // namespace zerorun
