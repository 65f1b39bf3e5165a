// What callers of the primitives hand over: scratch memory, and the size of chunks.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <bit>

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

}  // namespace zerorun::cuda_entropy
