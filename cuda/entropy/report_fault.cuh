// Reports faults from a kernel.
// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/entropy/outcome.hpp"

namespace zerorun::cuda_entropy {

__device__ inline void report_fault(Outcome* outcome, std::uint64_t fault) {
  atomicMin(reinterpret_cast<unsigned long long*>(&outcome->fault),
            static_cast<unsigned long long>(fault));
}

}  // namespace zerorun::cuda_entropy
