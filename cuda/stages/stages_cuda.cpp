// The table of all CUDA stages.
// SPDX-License-Identifier: MIT
#include "cuda/stages/stages_cuda.hpp"

namespace zerorun {

const StageTable& cuda_stages() {
#define ZR_STAGE_FUNCTION(name, Args) .name = name##_cuda,
  static constexpr StageTable kTable{ZR_STAGES(ZR_STAGE_FUNCTION)};
#undef ZR_STAGE_FUNCTION
  return kTable;
}

}  // namespace zerorun
