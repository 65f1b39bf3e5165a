// A kernel that lets the next one begin at once and writes at its end.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace zerorun::test {

inline constexpr std::uint32_t kLateWords = 64 * 256;

/// Enqueues it: when `nanoseconds` have passed, `to[kLateWords]`, which may be pinned memory,
/// becomes `value`.
cudaError_t write_late(std::uint32_t* to, std::uint32_t value, std::uint32_t nanoseconds,
                       cudaStream_t stream);

}  // namespace zerorun::test
