// The pipelines of a backend; backend.cpp knows which were built.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "codec/pipeline/decode_pipeline.hpp"
#include "codec/pipeline/encode_pipeline.hpp"

namespace zerorun {

/// `backend` is what resolve_backend() gave: cpu or cuda. `params` are valid.
Result<std::unique_ptr<EncodePipeline>> make_encode_pipeline(Backend backend,
                                                             const EncodeParams& params);
Result<std::unique_ptr<DecodePipeline>> make_decode_pipeline(Backend backend,
                                                             const DecodeParams& params);

}  // namespace zerorun
