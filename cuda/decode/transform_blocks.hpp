// The fast decoder's last kernel: (run, level) pairs -> samples. It does what the stages
// zero_run_expand (with cub::BlockRunLengthDecode), dc_predict and dequant_idct do.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>

#include "codec/arith/dct8.hpp"
#include "codec/syntax/scan_layout.hpp"
#include "cuda/base/launch_chain.hpp"
#include "cuda/base/known_divisor.hpp"
#include "cuda/decode/scan_memory.hpp"
#include "cuda/decode/subsequence_walk.hpp"
#include "cuda/decode/tuning.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

/// From a row of a block in shared memory to the next: transform_blocks() keeps the same row of all
/// blocks of a CTA together.
inline constexpr std::uint32_t kCoefficientRowBytes =
    kTransformBlocks * kBlockEdge * sizeof(std::int16_t);

/// For each scan component, in zig-zag order: where the coefficient is in shared memory, in bytes
/// from its block's first, and the quantisation table's entry.
struct ScanSteps {
  alignas(16) std::uint32_t step[kMaxComponents][kBlockSize];
  /// Pairs from one to the other have levels with which no AC coefficient exceeds
  /// kMaxNarrowCoefficient; twice a word. kWideLevel is not among them.
  std::uint32_t lowest_usual, highest_usual;
};
constexpr std::uint32_t make_scan_step(std::uint16_t q, std::uint32_t natural) {
  const std::uint32_t row = natural / kBlockEdge, column = natural % kBlockEdge;
  const std::uint32_t place =
      row * kCoefficientRowBytes + column * std::uint32_t{sizeof(std::int16_t)};
  return place << 16 | q;
}
ZR_HD std::uint32_t place_of(std::uint32_t step) { return step >> 16; }
/// libjpeg multiplies in 16 x 16 bits: an entry above 32767 counts as negative.
ZR_HD std::int32_t quantiser_of(std::uint32_t step) { return static_cast<std::int16_t>(step); }

/// Finds the usual pairs from the steps.
inline void find_usual_pairs(ScanSteps& steps) {
  std::int32_t most = 1;
  for (const auto& component : steps.step)
    for (std::size_t k = 1; k < kBlockSize; ++k) {
      const std::int32_t quantiser = quantiser_of(component[k]);
      most = std::max(most, quantiser < 0 ? -quantiser : quantiser);
    }
  const std::int32_t level = std::min(-kWideLevel - 1, kMaxNarrowCoefficient / most);
  constexpr auto twice = [](std::uint16_t pair) { return pair * 0x10001u; };
  steps.lowest_usual = twice(pack_pair(0, -level));
  steps.highest_usual = twice(pack_pair(kPairIndexMask, level));
}

/// All pointers are device memory but `report`.
struct TransformBlocksArgs {
  ScanLayout layout;  ///< the blocks_wide of a component that is not wanted is 0
  std::uint32_t blocks;
  KnownDivisor by_interval_blocks, by_mcu_blocks, by_mcus_wide;
  const ScanSteps* steps;
  PlaneView plane[kMaxComponents];  ///< out, one a scan component that is wanted
  const std::uint16_t* pairs;
  const std::int16_t* wide;         ///< of the pairs with kWideLevel
  const std::uint32_t* block_pair;  ///< [blocks + 1]
  std::uint64_t* states;            ///< [ceil(blocks / kTransformBlocks)], zero
  ScanSummary* summary;
  ScanReport* report;
  /// States of the chunks of the kernel before, which this one follows; or null if it begins after
  /// that.
  const std::uint64_t* chunk_counts;
  std::uint32_t chunks;
  std::uint32_t pair_capacity;  ///< the most pairs that the scan may have
};

Status transform_blocks(const TransformBlocksArgs& args, LaunchChain& chain);

}  // namespace zerorun
