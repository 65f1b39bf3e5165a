// Numbers that kernels take: which pair of code tables each block of an MCU has, divisors, and what
// stays in registers. Host code too.
// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstdint>

#include "codec/arith/host_device.hpp"
#include "codec/syntax/scan_layout.hpp"

namespace zerorun {

/// The most pairs of a DC and an AC table that a scan's components use.
inline constexpr int kMaxTablePairs = kMaxComponents;

/// The pairs of code tables that the blocks of an MCU take, in turn. If all components share their
/// tables, a decoder at the wrong place in the MCU would never find out, so only the place in the
/// period is a state.
struct PairCycle {
  std::uint8_t pair[kMaxBlocksPerMcu];  ///< of each block of the MCU
  std::int32_t period;
  std::int32_t pairs;
  std::uint8_t dc_table[kMaxTablePairs], ac_table[kMaxTablePairs];  ///< destinations of each pair
};

inline PairCycle make_pair_cycle(const ScanLayout& layout) {
  PairCycle cycle{};
  for (std::int32_t i = 0; i < layout.blocks_per_mcu; ++i) {
    const auto& component = layout.component[layout.block_component[i]];
    std::int32_t p = 0;
    while (p < cycle.pairs &&
           (cycle.dc_table[p] != component.dc_table || cycle.ac_table[p] != component.ac_table))
      ++p;
    if (p == cycle.pairs) {
      cycle.dc_table[p] = component.dc_table;
      cycle.ac_table[p] = component.ac_table;
      ++cycle.pairs;
    }
    cycle.pair[i] = static_cast<std::uint8_t>(p);
  }
  const auto repeats = [&](std::int32_t period) {
    if (layout.blocks_per_mcu % period != 0) return false;
    for (std::int32_t i = period; i < layout.blocks_per_mcu; ++i)
      if (cycle.pair[i] != cycle.pair[i - period]) return false;
    return true;
  };
  cycle.period = 1;
  while (!repeats(cycle.period)) ++cycle.period;
  return cycle;
}

/// Divides numbers below 2^31 by `value` with a multiplication (Robison, ARITH 2005): n / d is
/// (n + 1) * multiplier / 2^(32 + shift), rounded down. The multiplier is 2^(32 + shift) / d less
/// what makes it the next smaller integer, at most 1: the product falls short of (n + 1) / d, but
/// by no more than 1 / d, since 2^shift is at least half of d. So 1 is a divisor like any other.
struct KnownDivisor {
  std::uint32_t value = 1, multiplier = 0xFFFFFFFF;
  int shift = 0;

  KnownDivisor() = default;
  explicit constexpr KnownDivisor(std::uint32_t d)
      : value(d), shift(d == 1 ? 0 : static_cast<int>(std::bit_width(d - 1)) - 1) {
    multiplier = static_cast<std::uint32_t>(((std::uint64_t{1} << (32 + shift)) - 1) / d);
  }
  ZR_HD std::uint32_t quotient(std::uint32_t n) const {
    return static_cast<std::uint32_t>(std::uint64_t{n + 1} * multiplier >> 32) >> shift;
  }
};

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
