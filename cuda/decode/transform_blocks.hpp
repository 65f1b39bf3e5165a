// Last kernel of the fused decoder: (run, level) pairs -> samples. It stands for the stages
// zero_run_expand (by cub::BlockRunLengthDecode), dc_predict and dequant_idct.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include "codec/syntax/scan_layout.hpp"
#include "cuda/base/known_divisor.hpp"
#include "cuda/decode/scan_memory.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

/// Blocks of a CTA, a thread each.
inline constexpr std::uint32_t kTransformBlocks = 64;

/// What becomes of a level, in zig-zag order, for each scan component: the quantisation table's
/// entry, and the byte at which the coefficient stands in its block in natural order.
struct ScanSteps {
  std::uint32_t step[kMaxComponents][kBlockSize];
};
constexpr std::uint32_t make_scan_step(std::uint16_t q, std::uint32_t natural) {
  return std::uint32_t{q} << 16 | natural * static_cast<std::uint32_t>(sizeof(std::int16_t));
}
/// libjpeg multiplies in 16 x 16 bits: an entry above 32767 counts as negative.
ZR_HD std::int32_t quantiser_of(std::uint32_t step) {
  return static_cast<std::int32_t>(step) >> 16;
}

/// All pointers are device memory but `report`.
struct TransformBlocksArgs {
  ScanLayout layout;
  std::uint32_t blocks;
  KnownDivisor by_interval_blocks, by_mcu_blocks, by_mcus_wide;
  const ScanSteps* steps;
  PlaneView plane[kMaxComponents];  ///< out, one a scan component; without data: not wanted
  const std::uint32_t* pairs;
  const std::uint32_t* block_pair;  ///< [blocks + 1]
  std::uint64_t* states;            ///< [ceil(blocks / kTransformBlocks)], zero
  const ScanSummary* summary;
  ScanReport* report;
  std::uint64_t* cleared;  ///< out, [cleared_words]: zeros
  std::uint32_t cleared_words;
  ScanSummary* cleared_summary;  ///< likewise; not the one above
};

Status transform_blocks(const TransformBlocksArgs& args, cudaStream_t stream);

}  // namespace zerorun
