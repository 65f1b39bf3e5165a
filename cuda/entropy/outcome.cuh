// How faults are packed into 64 bits, so that atomicMin keeps the first one in the data.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "cuda/base/check.hpp"
#include "zerorun/cuda_entropy.hpp"

namespace zerorun::cuda_entropy {

inline constexpr int kFaultCodeBits = 16;
inline constexpr std::uint64_t kFaultCodeMask = 0x3FFF;

/// The unit in which the caller is told the position; the position always orders the faults.
enum class FaultPosition : std::uint64_t { hidden = 0, bytes = 0x8000, bits = 0x4000 };

/// Position first: the smallest fault is the first one in the data.
constexpr std::uint64_t pack_fault(std::uint64_t position, Errc code, FaultPosition unit) {
  return (position << kFaultCodeBits) | static_cast<std::uint64_t>(unit) |
         static_cast<std::uint64_t>(code);
}

__device__ inline void report_fault(Outcome* outcome, std::uint64_t position, Errc code,
                                    FaultPosition unit = FaultPosition::hidden) {
  atomicMin(reinterpret_cast<unsigned long long*>(&outcome->fault),
            static_cast<unsigned long long>(pack_fault(position, code, unit)));
}

/// Enqueues: `words` 64-bit words of state become 0, and the outcome has no fault.
Status reset(void* state, std::uint64_t words, Outcome* outcome, cudaStream_t stream);

}  // namespace zerorun::cuda_entropy
