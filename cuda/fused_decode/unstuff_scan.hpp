// First kernel of the fused decoder: stuffed bytes -> clean bytes, and where each restart interval
// begins. It stands for the stage byte_unstuff and the restart plan of an undamaged scan.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include "cuda/fused_decode/scan_memory.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

/// Bytes that one CTA takes, as they are aligned in memory.
inline constexpr std::uint32_t kUnstuffTileBytes = 4096;

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
};

/// CTAs for bytes that begin `lead` bytes behind a multiple of 16.
inline std::uint32_t unstuff_tiles(std::uint32_t in_bytes, std::uint32_t lead) {
  return (in_bytes + lead + kUnstuffTileBytes - 1) / kUnstuffTileBytes;
}

Status unstuff_scan(const UnstuffScanArgs& args, cudaStream_t stream);

}  // namespace zerorun
