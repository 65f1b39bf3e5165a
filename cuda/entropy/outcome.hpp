// How faults are packed into 64 bits, so that atomicMin keeps the first one in the data.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "zerorun/cuda_entropy.hpp"

namespace zerorun::cuda_entropy {

inline constexpr int kFaultCodeBits = 16;
inline constexpr std::uint64_t kFaultCodeMask = 0x3FFF;

/// What the position means to the caller; it always orders the faults.
enum class FaultPosition : std::uint64_t { hidden = 0, bytes = 0x8000, bits = 0x4000 };

/// Position first: the smallest fault is the one that stands first in the data.
constexpr std::uint64_t pack_fault(std::uint64_t position, Errc code, FaultPosition unit) {
  return (position << kFaultCodeBits) | static_cast<std::uint64_t>(unit) |
         static_cast<std::uint64_t>(code);
}

}  // namespace zerorun::cuda_entropy
