// Memory that must be zero when a scan's kernels start, and how it is cleared for another scan.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/base/memory.hpp"
#include "cuda/decode/scan_memory.hpp"

namespace zerorun {

/// Scans use two sets of states in turn. The first kernel of a scan, unstuff_scan(), clears what
/// the scan before left in the other set. A memset between a scan's upload and its first kernel
/// would take longer.
class ScanStates {
 public:
  /// Words of each kind; chunks have one and a half each.
  struct Counts {
    std::uint32_t tiles, chunks, transforms;
  };
  /// All pointers are device memory.
  struct Parts {
    ScanSummary* summary;
    std::uint64_t *tile, *chunk_counts, *transform;
    std::uint32_t* chunk_exit;
    // Of the scan before; unstuff_scan() clears them.
    ScanSummary* old_summary;
    std::uint64_t* old_states;
    std::uint32_t old_words;
  };

  /// Hands out the memory for a scan on `stream`. All work of the scan before must have ended, or
  /// `stream` must wait for it.
  Status take(const Counts& counts, cudaStream_t stream, Parts& out);
  /// To be called when all kernels of the scan have run without an error.
  void ended() { clean_ = true; }

 private:
  DeviceBuffer<std::uint64_t> states_[2];
  DeviceBuffer<ScanSummary> summary_;  ///< two
  std::uint32_t capacity_ = 0;         ///< words of each set
  std::uint32_t old_words_ = 0;
  int turn_ = 0;
  bool clean_ = false;
};

}  // namespace zerorun
