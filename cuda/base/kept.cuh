// Pointers that stay in registers.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include "cuda/base/kept.hpp"

namespace zerorun {

/// Keeps a pointer to global memory in a register, even if it is a kernel's argument. For CTAs of
/// one dimension.
template <typename T>
__device__ T* kept(T* pointer) {
#ifdef __CUDA_ARCH__
  pointer += threadIdx.y;
  asm volatile("" : "+l"(pointer));
  __builtin_assume(__isGlobal(pointer));
#endif
  return pointer;
}

}  // namespace zerorun
