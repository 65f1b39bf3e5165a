// The CUDA backend's pipelines as codec/api/backend.cpp asks for them.
// SPDX-License-Identifier: MIT
#include "codec/pipeline/cuda_backend.hpp"
#include "cuda/decode/fused_decode_pipeline.hpp"
#include "cuda/encode/fused_encoder.hpp"

namespace zerorun {

Result<std::unique_ptr<EncodePipeline>> make_cuda_encode_pipeline(int device) {
  return make_fused_encode_pipeline(device);
}

Result<std::unique_ptr<DecodePipeline>> make_cuda_decode_pipeline(int device) {
  return make_fused_decode_pipeline(device);
}

}  // namespace zerorun
