// How many CTAs of a kernel the compiler has to leave registers for, by the architecture that it
// compiles for.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "cuda/base/device_limits.hpp"

namespace zerorun {

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
