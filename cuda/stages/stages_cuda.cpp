// The CUDA backend's stages.
// SPDX-License-Identifier: MIT
#include "codec/pipeline/cuda_backend.hpp"
#include "codec/pipeline/stage_table.hpp"

namespace zerorun {

const StageTable& cuda_stages() {
#define ZR_STAGE_FUNCTION(name, Args) .name = name##_cuda,
  static constexpr StageTable kTable{ZR_STAGES(ZR_STAGE_FUNCTION)};
#undef ZR_STAGE_FUNCTION
  return kTable;
}

}  // namespace zerorun
