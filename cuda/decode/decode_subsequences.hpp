// Third kernel of the fused decoder: bits -> (run, level) pairs. It stands for the stage
// huffman_decode, and proves what sync_subsequences() found: a subsequence that does not end where
// the next one begins is a fault.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include "cuda/decode/walk_tables.hpp"
#include "cuda/decode/scan_memory.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

/// All pointers are device memory.
struct DecodeSubsequencesArgs {
  const std::uint32_t* words;  ///< clean bytes
  const WalkTables* tables;
  PairCycle cycle;
  std::uint32_t interval_blocks;  ///< of every interval but the last
  std::uint32_t blocks;           ///< of the scan
  std::uint32_t chunks;
  const SubsequenceStart* subs;      ///< as sync_subsequences() has made them
  const std::uint64_t* chunk_first;  ///< likewise
  const std::uint32_t* chunk_word;   ///< likewise
  std::uint32_t* pairs;              ///< out: the pairs of the scan in order
  std::uint32_t* block_pair;         ///< [blocks] out: number of each block's first pair
  ScanSummary* summary;
};

/// Tells CUDA how much shared memory the kernel may ask for, of `limit` bytes that the device
/// allows; once for a device.
Status prepare_decode_subsequences(std::size_t limit);
Status decode_subsequences(const DecodeSubsequencesArgs& args, cudaStream_t stream);

}  // namespace zerorun
