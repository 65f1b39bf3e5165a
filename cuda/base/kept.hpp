// Numbers that stay in registers. Host code too.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/arith/host_device.hpp"

namespace zerorun {

// The compiler computes a value again in each iteration of a loop, or loads it from constant
// memory, where that costs it no register.

/// Keeps a value that takes some computing in a register: what is added to it is 0, but the
/// assembler does not know that. For CTAs of one dimension.
ZR_HD std::uint32_t kept(std::uint32_t value) {
#ifdef __CUDA_ARCH__
  value += threadIdx.y;
  asm volatile("" : "+r"(value));
#endif
  return value;
}

}  // namespace zerorun
