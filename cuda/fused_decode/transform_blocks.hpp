// Last kernel of the fused decoder: (run, level) pairs -> samples. It stands for the stages
// zero_run_expand (by cub::BlockRunLengthDecode), dc_predict and dequant_idct.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include "codec/syntax/scan_layout.hpp"
#include "cuda/fused_decode/scan_memory.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

/// Blocks of a CTA, a thread each.
inline constexpr std::uint32_t kTransformBlocks = 64;

/// In zig-zag order, one table a scan component.
struct ScanQuant {
  std::uint16_t table[kMaxComponents][kBlockSize];
};

/// All pointers are device memory but `report`.
struct TransformBlocksArgs {
  ScanLayout layout;
  std::uint32_t blocks;
  std::uint32_t interval_blocks;
  const ScanQuant* quant;
  PlaneView plane[kMaxComponents];  ///< out, one a scan component; without data: not wanted
  const std::uint32_t* pairs;
  const std::uint32_t* block_pair;  ///< [blocks + 1]
  std::uint64_t* states;            ///< [ceil(blocks / kTransformBlocks)], zero
  const ScanSummary* summary;
  ScanReport* report;
};

Status transform_blocks(const TransformBlocksArgs& args, cudaStream_t stream);

}  // namespace zerorun
