// The limits of a device for a kernel, and how many CTAs of a kernel its processors hold. Pure host
// code: tests ask for every device, and plans (cuda/decode/scan_plan.hpp) are made of nothing
// else.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "codec/arith/host_device.hpp"

namespace zerorun {

/// Limits of one device. "Processor" is what CUDA calls a multiprocessor.
struct DeviceLimits {
  int capability;                                  ///< 10 * major + minor
  std::size_t shared_of_cta, shared_of_processor;  ///< bytes of shared memory
  std::size_t shared_taken;  ///< bytes that the system takes of a processor for each CTA
  std::uint32_t threads_of_processor, ctas_of_processor, registers_of_processor;
  /// A kernel may be launched while the one before it still runs: its code waits where it must.
  bool programmatic_launches;
  std::uint32_t processors;

  bool operator==(const DeviceLimits&) const = default;
};

/// The compute capabilities that zerorun has code for, and so has limits for.
inline constexpr int kCapabilities[] = {75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};

/// The limits of a compute capability, as the CUDA C++ Programming Guide 13.0 has them (Technical
/// Specifications per Compute Capability; cuda::arch_traits has the same). What differs between the
/// devices of a capability is 0.
constexpr DeviceLimits limits_of_capability(int capability) {
  constexpr std::size_t kKib = 1024;
  DeviceLimits limits{};
  limits.capability = capability;
  limits.registers_of_processor = 65536;
  limits.shared_taken = capability >= 80 ? kKib : 0;
  limits.programmatic_launches = capability >= 90;
  const bool small = (capability >= 86 && capability < 90 && capability != 87) || capability >= 120;
  const std::size_t kib = capability < 80 ? 64 : small ? 100 : capability < 90 ? 164 : 228;
  limits.shared_of_processor = kib * kKib;
  limits.shared_of_cta = limits.shared_of_processor - limits.shared_taken;
  const bool full = capability == 80 || (capability >= 90 && capability < 110);
  limits.threads_of_processor = capability < 80 ? 1024 : full ? 2048 : 1536;
  limits.ctas_of_processor = full ? 32 : capability == 89 || capability >= 110 ? 24 : 16;
  return limits;
}

/// Resources of a processor that a CTA takes. Registers 0: unknown, they do not count.
struct CtaNeeds {
  std::uint32_t threads;
  std::uint32_t registers;   ///< of a thread
  std::size_t shared_bytes;  ///< static and dynamic
};

/// CTAs that a processor holds at a time; 0 if a CTA may not have so much. (The system hands out
/// registers by 256 a warp, and shared memory by 128 bytes.)
constexpr std::uint32_t resident_ctas(const DeviceLimits& limits, const CtaNeeds& needs) {
  constexpr std::uint32_t kMostThreads = 1024, kRegisterUnit = 256;
  constexpr std::size_t kSharedUnit = 128;
  if (needs.threads == 0 || needs.threads > kMostThreads) return 0;
  if (needs.shared_bytes > limits.shared_of_cta) return 0;
  const std::uint32_t warps = ceil_div(needs.threads, 32u);
  std::uint32_t ctas =
      std::min(limits.ctas_of_processor, limits.threads_of_processor / (32 * warps));
  if (needs.registers != 0) {
    const std::uint32_t of_warp = round_up(32 * needs.registers, kRegisterUnit);
    ctas = std::min(ctas, limits.registers_of_processor / (of_warp * warps));
  }
  const std::size_t shared = round_up(needs.shared_bytes, kSharedUnit) + limits.shared_taken;
  if (shared == 0) return ctas;
  return static_cast<std::uint32_t>(
      std::min<std::size_t>(ctas, limits.shared_of_processor / shared));
}

// How many CTAs of a kernel the compiler has to leave registers for.

/// The compute capability that is being compiled. The host's pass has to name some.
#ifdef __CUDA_ARCH__
inline constexpr int kCompiledCapability = __CUDA_ARCH__ / 10;
#else
inline constexpr int kCompiledCapability = 90;
#endif

/// The last argument of __launch_bounds__: `wanted` CTAs, or as many as threads and shared memory
/// let a processor hold. More would take registers from the threads for nothing. With 5 CTAs of
/// code_tiles() everywhere, threads spilled registers on Ampere, where 3 fit and 168 registers are
/// left for each thread.
constexpr unsigned bounded_ctas(unsigned wanted, unsigned threads, std::size_t shared_bytes,
                                int capability = kCompiledCapability) {
  const std::uint32_t held =
      resident_ctas(limits_of_capability(capability), {threads, 0, shared_bytes});
  return std::clamp(held, 1u, wanted);
}

}  // namespace zerorun
