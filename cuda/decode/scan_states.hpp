// What the kernels of a scan count up from zero, and who clears it for the next scan.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/base/memory.hpp"
#include "cuda/decode/scan_memory.hpp"

namespace zerorun {

/// A scan's last kernel, transform_blocks(), clears what the others before it left behind, and the
/// next scan's first, unstuff_scan(), what transform_blocks() did: a memset between a scan's upload
/// and its first kernel would be waited for.
class ScanStates {
 public:
  /// Of each kind; of chunks two a word.
  struct Counts {
    std::uint32_t tiles, sum_tiles, chunks, transforms;
  };
  /// All in device memory.
  struct Parts {
    ScanSummary *summary, *next_summary;
    std::uint64_t *tile, *sum_tile, *transform;
    std::uint32_t* chunk_exit;
    std::uint64_t* used_early;       ///< tile, sum_tile and chunk_exit: transform_blocks() clears
    std::uint32_t used_early_words;  ///< them, and next_summary
    std::uint32_t old_transforms;    ///< unstuff_scan() clears so many of transform
  };

  /// For a scan on `stream`, when all of the scan before has ended. The same stream, or `stream`
  /// waits for it.
  Status take(const Counts& counts, cudaStream_t stream, Parts& out);
  /// All kernels of the scan have run, to their end and without an error.
  void ended() { clean_ = true; }

 private:
  DeviceBuffer<std::uint64_t> early_, transform_;
  DeviceBuffer<ScanSummary> summary_;  ///< two, in turns
  std::uint32_t early_words_ = 0, transform_words_ = 0, old_transforms_ = 0;
  int turn_ = 0;
  bool clean_ = false;
};

}  // namespace zerorun
