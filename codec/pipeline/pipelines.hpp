// The pipelines of a backend; backend.cpp knows which were built.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "codec/pipeline/backend_choice.hpp"
#include "codec/pipeline/decode_pipeline.hpp"
#include "codec/pipeline/encode_pipeline.hpp"

namespace zerorun {

/// The pipeline of `backend`, which resolve_backend() gave: cpu or cuda. Where CUDA was an
/// automatic choice, one of the CPU is to spare. `params` are valid.
Result<PipelineAndSpare<EncodePipeline>> make_encode_pipelines(Backend backend,
                                                               const EncodeParams& params);
Result<PipelineAndSpare<DecodePipeline>> make_decode_pipelines(Backend backend,
                                                               const DecodeParams& params);

}  // namespace zerorun
