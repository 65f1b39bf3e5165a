// Second kernel of the fused decoder: where the first codeword of each subsequence begins, and how
// many blocks and pairs stand before it. It stands for the stage huffman_sync.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include "cuda/decode/walk_tables.hpp"
#include "cuda/decode/scan_memory.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

/// All pointers are device memory.
struct SyncArgs {
  const std::uint32_t* words;           ///< clean bytes
  const std::uint32_t* interval_first;  ///< [intervals + 1]
  const WalkTables* tables;
  PairCycle cycle;
  std::uint32_t intervals;
  std::uint32_t blocks;         ///< of the scan
  std::uint32_t pair_capacity;  ///< of what decode_subsequences() writes
  std::uint32_t chunks;         ///< enough for all subsequences
  /// Subsequences from one that is guessed to the next, a power of two; 0: none is, and intervals
  /// are followed from their beginning.
  std::uint32_t guess_stride;
  std::uint32_t most_ends;     ///< kept of a subsequence: kUsualEnds or kMostEnds
  SubsequenceStart* subs;      ///< out, [chunks * kChunkSubsequences]
  std::uint64_t* chunk_first;  ///< out, [chunks + 1]: pack_counts() before the chunk
  std::uint32_t* chunk_word;   ///< out, [chunks]: the first word that decode_subsequences() reads
  std::uint32_t* chunk_exit;   ///< [chunks], zero
  std::uint32_t* block_pair;   ///< [blocks] out: the number of pairs
  ScanSummary* summary;
};

/// Tells CUDA how much shared memory the kernel may ask for, of `limit` bytes that the device
/// allows; once for a device.
Status prepare_sync_subsequences(std::size_t limit);
Status sync_subsequences(const SyncArgs& args, cudaStream_t stream);

}  // namespace zerorun
