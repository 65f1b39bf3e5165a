// The pipelines of the CUDA backend; defined in cuda/.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "codec/pipeline/decode_pipeline.hpp"
#include "codec/pipeline/encode_pipeline.hpp"

namespace zerorun {

/// Precondition: cuda_backend_devices() lists `device` as usable. Errors: out_of_memory,
/// device_failure. `threads` copy pageable frames: 0 = as many as helps.
Result<std::unique_ptr<EncodePipeline>> make_cuda_encode_pipeline(int device, int threads);
Result<std::unique_ptr<DecodePipeline>> make_cuda_decode_pipeline(int device, int threads);

}  // namespace zerorun
