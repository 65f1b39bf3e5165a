// Instead of sync_subsequences() and decode_subsequences(), where the stream has an index of the
// scan: bits -> (run, level) pairs, a thread for each group of MCUs. Whatever the index says, it is
// believed only where each group was found as it was said.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include "cuda/decode/group_sums.hpp"
#include "cuda/decode/walk_tables.hpp"
#include "cuda/decode/scan_memory.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

/// All pointers are device memory.
struct DecodeGroupsArgs {
  const std::uint32_t* words;           ///< clean bytes
  const std::uint32_t* interval_first;  ///< [intervals + 1]
  const std::uint64_t* sums;            ///< [groups + 1], as unstuff_scan() has made them
  const WalkTables* tables;
  PairCycle cycle;
  GroupGrid grid;
  std::uint32_t pair_capacity;
  std::uint32_t room_words;  ///< as decode_groups_room() says
  std::uint32_t* pairs;      ///< out, [pair_capacity + kMostGroupPairs]: those of the scan in order
  std::uint32_t* block_pair;  ///< [blocks + 1] out: pairs before each block
  ScanSummary* summary;
};

/// Tells CUDA how much shared memory the kernel may ask for, of `limit` bytes that the device
/// allows; once for a device.
Status prepare_decode_groups(std::size_t limit);
/// Words of shared memory for the bits of a CTA's groups, of a scan of so many bytes.
std::uint32_t decode_groups_room(std::uint32_t bytes, std::uint32_t groups);
Status decode_groups(const DecodeGroupsArgs& args, cudaStream_t stream);

}  // namespace zerorun
