// What callers of the primitives hand over and get back: scratch memory, the size of chunks, and
// outcomes, whose fault is packed into 64 bits, so that atomicMin keeps the first one in the data.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "cuda/base/check.hpp"
#include "cuda/base/scratch.hpp"
#include "zerorun/cuda_entropy.hpp"

namespace zerorun::cuda_entropy {

/// Hands out aligned pieces of the caller's scratch, or only adds them up when there is none yet.
class CallerScratch : public ScratchLayout {
 public:
  using ScratchLayout::ScratchLayout;

  bool measuring() const { return memory_ == nullptr; }

  /// Call after the last take(): sets the size when measuring, and checks it otherwise.
  Status settle(std::size_t& scratch_bytes) const {
    if (measuring()) {
      scratch_bytes = std::max(bytes(), kAlign);  // never 0: a null pointer would measure again
      return Status::ok();
    }
    if (scratch_bytes < bytes())
      return Status(Errc::invalid_argument, "the scratch memory is smaller than the call needs");
    if (reinterpret_cast<std::uintptr_t>(memory_) % kAlign != 0)
      return Status(Errc::invalid_argument, "the scratch memory is not aligned to 256 bytes");
    return Status::ok();
  }
};

inline Status check_chunk_symbols(std::uint32_t chunk_symbols) {
  if (chunk_symbols >= kMinChunkSymbols && chunk_symbols <= kMaxChunkSymbols &&
      std::has_single_bit(chunk_symbols))
    return Status::ok();
  return Status(Errc::invalid_argument, "a chunk has 16 to 2^20 symbols, a power of two");
}

inline constexpr int kFaultCodeBits = 16;
inline constexpr std::uint64_t kFaultCodeMask = 0x3FFF;

/// The unit in which the caller is told the position; the position always orders the faults.
enum class FaultPosition : std::uint64_t { hidden = 0, bytes = 0x8000, bits = 0x4000 };

/// Position first: the smallest fault is the first one in the data.
constexpr std::uint64_t pack_fault(std::uint64_t position, Errc code, FaultPosition unit) {
  return (position << kFaultCodeBits) | static_cast<std::uint64_t>(unit) |
         static_cast<std::uint64_t>(code);
}

__device__ inline void report_fault(Outcome* outcome, std::uint64_t position, Errc code,
                                    FaultPosition unit = FaultPosition::hidden) {
  atomicMin(reinterpret_cast<unsigned long long*>(&outcome->fault),
            static_cast<unsigned long long>(pack_fault(position, code, unit)));
}

/// Enqueues: `words` 64-bit words of state become 0, and the outcome has no fault.
Status reset(void* state, std::uint64_t words, Outcome* outcome, cudaStream_t stream);

}  // namespace zerorun::cuda_entropy
