// What a row of subsequences tells those behind it about faults. Host code too, for its test.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/arith/host_device.hpp"

namespace zerorun {

/// Behind a fault nothing of a cursor counts, because its blocks are concealed. So the states of
/// the subsequences there need not be right: they are moot until the next cursor begins.
enum class ChainTail : std::uint32_t {
  passes,  ///< neither a cursor's head nor a fault: what stands before decides
  counts,  ///< a head, and no fault from the last head on
  moot     ///< a fault, and no head behind the last one
};

/// The tail of two rows, one behind the other.
ZR_HD ChainTail join(ChainTail before, ChainTail behind) {
  return behind == ChainTail::passes ? before : behind;
}

/// Of up to 32 subsequences; a later one has a higher bit. A fault in a head counts for it.
ZR_HD ChainTail tail_of(std::uint32_t heads, std::uint32_t faults) {
#ifdef __CUDA_ARCH__
  const int after_head = __clz(static_cast<int>(heads)),
            after_fault = __clz(static_cast<int>(faults));
#else
  const int after_head = heads == 0 ? 32 : __builtin_clz(heads),
            after_fault = faults == 0 ? 32 : __builtin_clz(faults);
#endif
  if (heads == 0 && faults == 0) return ChainTail::passes;
  return after_fault <= after_head ? ChainTail::moot : ChainTail::counts;
}

}  // namespace zerorun
