// First kernel of the fused decoder: stuffed bytes -> clean bytes, and where each restart interval
// begins. It stands for the stage byte_unstuff and the restart plan of an undamaged scan. Where the
// stream has an index of the scan, its entries are summed up at the same time.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include "cuda/decode/scan_memory.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

/// Bytes that one CTA takes, as they are aligned in memory.
inline constexpr std::uint32_t kUnstuffTileBytes = 4096;

inline constexpr int kUnstuffThreads = 256;

/// Groups of which one CTA sums up the index.
inline constexpr std::uint32_t kSumTileGroups = 1024;

/// All pointers are device memory. Without an index, nothing.
struct SumGroupsArgs {
  const std::uint8_t* entries;  ///< the first one in the stream
  std::uint32_t groups;
  std::uint64_t* sums;    ///< out, [groups + 1]: those before each group
  std::uint64_t* states;  ///< [sum_tiles()], zero
};

/// All pointers are device memory but `report`.
struct UnstuffScanArgs {
  const std::uint8_t* in;
  std::uint32_t in_bytes;  ///< may reach beyond the scan; below 2^29
  std::uint32_t intervals;
  std::uint8_t* clean;  ///< out, [in_bytes + kCleanPadding + 3]: each four bytes as a word
  std::uint32_t* interval_first;  ///< out, [intervals + 1]: the first clean byte; the last entry
                                  ///< closes the list
  std::uint64_t* states;          ///< [unstuff_tiles()], zero
  ScanSummary* summary;
  ScanReport* report;
  SumGroupsArgs index;
  std::uint64_t* cleared;  ///< out, [cleared_words]: zeros
  std::uint32_t cleared_words;
};

/// CTAs for bytes that begin `lead` bytes behind a multiple of 16.
inline std::uint32_t unstuff_tiles(std::uint32_t in_bytes, std::uint32_t lead) {
  return (in_bytes + lead + kUnstuffTileBytes - 1) / kUnstuffTileBytes;
}

/// CTAs for the index of so many groups; one entry more has the sum of all.
inline std::uint32_t sum_tiles(std::uint32_t groups) {
  return groups == 0 ? 0 : groups / kSumTileGroups + 1;
}

Status unstuff_scan(const UnstuffScanArgs& args, cudaStream_t stream);

}  // namespace zerorun
