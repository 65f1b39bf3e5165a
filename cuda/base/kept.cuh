// Values that stay in registers.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace zerorun {

// The compiler computes a value again in each iteration of a loop, or loads it from constant
// memory, where that costs it no register.

/// Keeps a value that takes some computing in a register.
__device__ inline std::uint32_t kept(std::uint32_t value) {
#ifdef __CUDA_ARCH__
  asm volatile("" : "+r"(value));
#endif
  return value;
}

/// Keeps a pointer to global memory, even a kernel's argument: what is added to it is 0, but the
/// assembler does not know that. For CTAs of one dimension.
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
