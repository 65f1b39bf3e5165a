// The table of all CUDA stages (target zerorun_stages), for tests. The product calls single stages.
// SPDX-License-Identifier: MIT
#pragma once

#include "codec/pipeline/stage_table.hpp"

namespace zerorun {

const StageTable& cuda_stages();

}  // namespace zerorun
