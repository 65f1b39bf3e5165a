// Memory that must be zero when a scan's kernels start, and how it is cleared for the next scan.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/base/memory.hpp"
#include "cuda/decode/scan_memory.hpp"

namespace zerorun {

/// The last kernel of a scan, transform_blocks(), clears what the others left behind. The first
/// kernel of the next scan, unstuff_scan(), clears what transform_blocks() left. A memset between a
/// scan's upload and its first kernel would take longer.
class ScanStates {
 public:
  /// Words of each kind; chunks have one and a half each.
  struct Counts {
    std::uint32_t tiles, sum_tiles, chunks, transforms;
  };
  /// All pointers are device memory.
  struct Parts {
    ScanSummary *summary, *next_summary;
    std::uint64_t *tile, *sum_tile, *chunk_counts, *transform;
    std::uint32_t* chunk_exit;
    std::uint64_t* used_early;       ///< tile to chunk_exit: transform_blocks() clears
    std::uint32_t used_early_words;  ///< them, and next_summary
    std::uint32_t old_transforms;    ///< words of transform that unstuff_scan() clears
  };

  /// Hands out the memory for a scan on `stream`. All work of the scan before must have ended, or
  /// `stream` must wait for it.
  Status take(const Counts& counts, cudaStream_t stream, Parts& out);
  /// To be called when all kernels of the scan have run without an error.
  void ended() { clean_ = true; }

 private:
  DeviceBuffer<std::uint64_t> early_, transform_;
  DeviceBuffer<ScanSummary> summary_;  ///< two, used alternately
  std::uint32_t early_words_ = 0, transform_words_ = 0, old_transforms_ = 0;
  int turn_ = 0;
  bool clean_ = false;
};

}  // namespace zerorun
