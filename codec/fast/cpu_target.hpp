// The instruction sets that the fast CPU stages are compiled for.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace zerorun {

/// In the order of what they need; scalar means the reference stages.
enum class CpuTarget : std::uint8_t { scalar, sse4, avx2, avx512 };

/// "scalar", "sse4", "avx2", "avx512".
std::string_view name(CpuTarget target) noexcept;
std::optional<CpuTarget> cpu_target_from_name(std::string_view name) noexcept;

/// What this build has and this machine can run, scalar first, the best one last.
const std::vector<CpuTarget>& cpu_targets();

}  // namespace zerorun
