// The CPU backend's stages.
// SPDX-License-Identifier: MIT
#include "codec/pipeline/stage_table.hpp"

namespace zerorun {

const StageTable& cpu_stages() {
#define ZR_STAGE_FUNCTION(name, Args) .name = name##_cpu,
  static constexpr StageTable kTable{ZR_STAGES(ZR_STAGE_FUNCTION)};
#undef ZR_STAGE_FUNCTION
  return kTable;
}

}  // namespace zerorun
