// The instruction sets that the fast CPU stages are compiled for.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "zerorun/backend.hpp"

namespace zerorun {

/// scalar means the reference stages; `best` is not used here.
using CpuTarget = InstructionSet;

/// The sets that this build has and this machine can run, scalar first, the best one last.
const std::vector<CpuTarget>& cpu_targets();

}  // namespace zerorun
