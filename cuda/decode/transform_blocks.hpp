// The fast decoder's last kernel: (run, level) pairs -> samples. It does what the stages
// zero_run_expand (with cub::BlockRunLengthDecode), dc_predict and dequant_idct do.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include "codec/syntax/scan_layout.hpp"
#include "cuda/base/known_divisor.hpp"
#include "cuda/decode/scan_memory.hpp"
#include "cuda/decode/tuning.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

/// For each scan component, in zig-zag order: the quantisation table's entry, and the coefficient's
/// byte offset in its block in natural order.
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
  PlaneView plane[kMaxComponents];  ///< out, one a scan component; data null: not wanted
  const std::uint16_t* pairs;
  const std::int16_t* wide;         ///< of the pairs with kWideLevel
  const std::uint32_t* block_pair;  ///< [blocks + 1]
  std::uint64_t* states;            ///< [ceil(blocks / kTransformBlocks)], zero
  const ScanSummary* summary;
  ScanReport* report;
  /// States of the chunks of the kernel before, which this one follows; or null if it begins after
  /// that.
  const std::uint64_t* chunk_counts;
  std::uint32_t chunks;
  std::uint32_t pair_capacity;  ///< the most pairs that the scan may have
};

Status transform_blocks(const TransformBlocksArgs& args, cudaStream_t stream);

}  // namespace zerorun
