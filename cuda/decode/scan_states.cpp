// Zeros for a scan's kernels: those that the scan before left, or a memset.
// SPDX-License-Identifier: MIT
#include "cuda/decode/scan_states.hpp"

#include <algorithm>
#include <utility>

#include "codec/arith/integer.hpp"

namespace zerorun {

Status ScanStates::take(const Counts& counts, cudaStream_t stream, Parts& out) {
  const std::uint32_t exits = ceil_div(counts.chunks, 2u);
  const std::uint32_t early = counts.tiles + counts.sum_tiles + counts.chunks + exits;
  // The memory is not clean again until the scan has ended, whatever happens from here on.
  const bool clean = std::exchange(clean_, false);
  if (!clean || early > early_words_ || counts.transforms > transform_words_) {
    early_words_ = std::max(early_words_, early);
    transform_words_ = std::max(transform_words_, counts.transforms);
    ZR_TRY(early_.reserve(early_words_));
    ZR_TRY(transform_.reserve(transform_words_));
    ZR_TRY(summary_.reserve(2));
    ZR_CUDA_TRY(cudaMemsetAsync(early_.data(), 0, early_words_ * sizeof *early_.data(), stream));
    ZR_CUDA_TRY(cudaMemsetAsync(transform_.data(), 0, transform_words_ * sizeof *transform_.data(),
                                stream));
    ZR_CUDA_TRY(cudaMemsetAsync(summary_.data(), 0, 2 * sizeof(ScanSummary), stream));
    old_transforms_ = 0;
  }
  turn_ = 1 - turn_;
  out.summary = summary_.data() + turn_;
  out.next_summary = summary_.data() + (1 - turn_);
  out.tile = out.used_early = early_.data();
  out.used_early_words = early;
  out.sum_tile = out.tile + counts.tiles;
  out.chunk_counts = out.sum_tile + counts.sum_tiles;
  out.chunk_exit = reinterpret_cast<std::uint32_t*>(out.chunk_counts + counts.chunks);
  out.transform = transform_.data();
  out.old_transforms = std::exchange(old_transforms_, counts.transforms);
  return Status::ok();
}

}  // namespace zerorun
