// Whole scans by the staged decoder's algorithm, on the host: what its kernels do in one thread.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "codec/decode/huffman_sync.hpp"
#include "tests/cuda/decode/host_scan.hpp"

namespace zerorun::test {

/// The starts of all cursors' subsequences.
struct SyncPoints {
  std::vector<std::int64_t> cursor_first;  ///< [cursors + 1]
  std::vector<SyncPoint> points;
};

/// By run_subsequence() as in huffman_sync.cu, and by the CPU's stage.
SyncPoints sync_by_walks(const CleanScan& scan, std::int32_t subsequence_bits);
SyncPoints sync_by_stage(const CleanScan& scan, std::int32_t subsequence_bits);

/// By decode_stretch() as in huffman_decode.cu, a stretch from each point.
CodedBlocks decode_stretches(const CleanScan& scan, const SyncPoints& sync);

/// How the staged decoder contradicts the CPU's stages, or null.
const char* staged_contradiction(const CleanScan& scan, const StageScan& stages,
                                 std::int32_t subsequence_bits);

}  // namespace zerorun::test
