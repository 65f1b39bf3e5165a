// The table of all CUDA stages (target zerorun_stages), for tests. The product calls single stages.
// SPDX-License-Identifier: MIT
#pragma once

#include "codec/pipeline/stage_table.hpp"

namespace zerorun {

inline const StageTable& cuda_stages() {
#define ZR_STAGE_FUNCTION(name, Args) .name = name##_cuda,
  static constexpr StageTable kTable{ZR_STAGES(ZR_STAGE_FUNCTION)};
#undef ZR_STAGE_FUNCTION
  return kTable;
}

}  // namespace zerorun
