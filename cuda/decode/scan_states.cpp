// Zeros for a scan's kernels: those that the scan before made, or a memset.
// SPDX-License-Identifier: MIT
#include "cuda/decode/scan_states.hpp"

#include <algorithm>
#include <utility>

#include "codec/arith/integer.hpp"

namespace zerorun {

Status ScanStates::take(const Counts& counts, cudaStream_t stream, Parts& out) {
  const std::uint32_t exits = ceil_div(counts.chunks, 2u);
  const std::uint32_t words = counts.tiles + counts.chunks + exits + counts.transforms;
  // The memory is not clean again until the scan has ended, whatever happens from here on.
  const bool clean = std::exchange(clean_, false);
  if (!clean || words > capacity_) {
    capacity_ = std::max(capacity_, words);
    ZR_TRY(summary_.reserve(2));
    for (DeviceBuffer<std::uint64_t>& states : states_) {
      ZR_TRY(states.reserve(capacity_));
      ZR_CUDA_TRY(cudaMemsetAsync(states.data(), 0, capacity_ * sizeof *states.data(), stream));
    }
    ZR_CUDA_TRY(cudaMemsetAsync(summary_.data(), 0, 2 * sizeof(ScanSummary), stream));
    old_words_ = 0;
  }
  turn_ = 1 - turn_;
  out.summary = summary_.data() + turn_;
  out.tile = states_[turn_].data();
  out.chunk_counts = out.tile + counts.tiles;
  out.chunk_exit = reinterpret_cast<std::uint32_t*>(out.chunk_counts + counts.chunks);
  out.transform = out.chunk_counts + counts.chunks + exits;
  out.old_summary = summary_.data() + (1 - turn_);
  out.old_states = states_[1 - turn_].data();
  out.old_words = std::exchange(old_words_, words);
  return Status::ok();
}

}  // namespace zerorun
