// Numbers and pointers that stay in registers. Host code too.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/arith/host_device.hpp"

namespace zerorun {

// The compiler computes a value again in each iteration of a loop, or loads it from constant
// memory, where that costs it no register. For CTAs of one dimension.

/// Keeps a value that takes some computing in a register: what is added to it is 0, but the
/// assembler does not know that.
ZR_HD std::uint32_t kept(std::uint32_t value) {
#ifdef __CUDA_ARCH__
  value += threadIdx.y;
  asm volatile("" : "+r"(value));
#endif
  return value;
}

/// Keeps a pointer to global memory in a register, even if it is a kernel's argument.
template <typename T>
ZR_HD T* kept(T* pointer) {
#ifdef __CUDA_ARCH__
  pointer += threadIdx.y;
  asm volatile("" : "+l"(pointer));
  __builtin_assume(__isGlobal(pointer));
#endif
  return pointer;
}

}  // namespace zerorun
