// The instruction sets that the fast CPU stages are compiled for.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "zerorun/backend.hpp"

namespace zerorun {

/// scalar means the reference stages; `best` is not used here.
using CpuTarget = InstructionSet;

/// All names but "best".
std::optional<CpuTarget> cpu_target_from_name(std::string_view name) noexcept;

/// The sets that this build has and this machine can run, scalar first, the best one last.
const std::vector<CpuTarget>& cpu_targets();

}  // namespace zerorun
