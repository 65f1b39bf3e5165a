// The pipelines of a backend; backend.cpp knows which were built.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "codec/pipeline/backend_choice.hpp"
#include "codec/pipeline/decode_pipeline.hpp"
#include "codec/pipeline/encode_pipeline.hpp"

namespace zerorun {

/// `backend` is what resolve_backend() gave: cpu or cuda.
Result<std::unique_ptr<EncodePipeline>> make_encode_pipeline(Backend backend, int device,
                                                             int threads);
Result<std::unique_ptr<DecodePipeline>> make_decode_pipeline(Backend backend, int device,
                                                             int threads);

/// The pipeline of `backend`, and one of the CPU to spare where CUDA was an automatic choice.
Result<PipelineAndSpare<EncodePipeline>> make_encode_pipelines(Backend wanted, Backend backend,
                                                               int device, int threads);
Result<PipelineAndSpare<DecodePipeline>> make_decode_pipelines(Backend wanted, Backend backend,
                                                               int device, int threads);

}  // namespace zerorun
