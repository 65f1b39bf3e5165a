// The kernels of a scan, in their order, and the one that makes their tables; what they pass to
// each other in device memory.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "codec/arith/dct8.hpp"
#include "cuda/base/kernel_numbers.hpp"
#include "cuda/decode/scan_plan.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

/// State of the scan that is being decoded. Zero when its first kernel starts.
struct ScanSummary {
  std::uint32_t faults;       ///< kFault… bits
  std::uint32_t walk_faults;  ///< likewise, found by the kernels that walk over subsequences
  std::uint32_t clean_bytes;  ///< the sum of all intervals
  /// Not 0: the starts of a chunk's subsequences were not found, or it published a wrong end.
  std::uint32_t unsettled;
  std::uint32_t serial_walks;  ///< subsequences that were walked serially
  std::uint32_t taken_tiles;   ///< by CTAs of unstuff_scan() that read pinned memory
  std::uint32_t outcome;       ///< faults_of(), written by the last kernel
  std::uint64_t end;           ///< as the state of a tile, when all is known (scan_progress.cuh)
};

/// The faults that make the pairs useless; kFault… bits. Other CTAs may still find more.
ZR_HD std::uint32_t faults_of(const ScanSummary& summary) {
  return summary.faults | summary.walk_faults | (summary.unsettled != 0 ? kFaultUnsettled : 0);
}

/// Zero bytes after the clean ones, because words are read ahead.
inline constexpr std::uint32_t kCleanPadding = 32;

/// The device's report to the host, in pinned memory.
struct ScanReport {
  std::uint32_t faults;
  std::uint32_t dc_fault;  ///< not 0: a DC value that no encoder makes
  std::uint32_t consumed_bytes;
};

/// A subsequence whose start is known.
struct alignas(16) OwnSubsequence {
  std::uint32_t bit, stop;  ///< where its first codeword begins, and that of the next one
  std::uint32_t end;        ///< where its interval ends; 0 for no subsequence
  std::uint32_t interval;
  std::uint32_t block, pair;  ///< numbers before it, in its chunk
  /// pack() before its first codeword, and before that of the next one. `exit` and `stop` are
  /// unused in the last subsequence of an interval.
  std::uint16_t entry, exit;
  std::uint16_t blocks : 15, is_last : 1;  ///< `blocks` and `pairs`: its WalkTally
  std::uint16_t pairs : 15, is_first : 1;  ///< `is_first`, `is_last`: of its interval
};
static_assert(sizeof(OwnSubsequence) == 32);

/// The most pairs and blocks in a subsequence, whatever its bits are: all its symbols begin in it.
/// So many pairs more than a chunk counted may be collected, and so many pairs, wide levels and
/// blocks more than a scan may have be written.
inline constexpr std::uint32_t kMostWalkPairs = kSubsequenceBits + 2 * kMostStepBits + 2;

/// Pairs that a thread of transform_blocks() reads at once: of those behind the scan's last one it
/// may read all but one, and uses none. The kernel takes 28.7 us with 4, 25.9 with 8, 27.9 with 16.
inline constexpr std::uint32_t kPairsPerThread = 8;

/// Blocks and pairs in one word, so that one addition adds both.
ZR_HD std::uint64_t pack_counts(std::uint32_t blocks, std::uint32_t pairs) {
  return std::uint64_t{blocks} << 32 | pairs;
}
ZR_HD std::uint32_t blocks_of(std::uint64_t counts) {
  return static_cast<std::uint32_t>(counts >> 32);
}
ZR_HD std::uint32_t pairs_of(std::uint64_t counts) { return static_cast<std::uint32_t>(counts); }

/// Bytes of a tile of unstuff_scan(), which one CTA takes; tiles are aligned in memory.
inline constexpr std::uint32_t kUnstuffTileBytes = 4096;
/// Blocks of a CTA of transform_blocks(), one a thread.
inline constexpr std::uint32_t kTransformBlocks = 64;
/// From a row of a block in shared memory to the next: the same row of all blocks is together.
inline constexpr std::uint32_t kCoefficientRowBytes =
    kTransformBlocks * kBlockEdge * sizeof(std::int16_t);

/// For each scan component, in zig-zag order: where the coefficient is in shared memory, in bytes
/// from its block's first, and the quantisation table's entry.
struct ScanSteps {
  alignas(16) std::uint32_t step[kMaxComponents][kBlockSize];
  /// Pairs from one to the other have levels with which no AC coefficient exceeds
  /// kMaxNarrowCoefficient; twice a word. kWideLevel is not among them.
  std::uint32_t lowest_usual, highest_usual;
  bool operator==(const ScanSteps&) const = default;
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
    for (std::size_t k = 1; k < kBlockSize; ++k)
      most = std::max(most, std::abs(quantiser_of(component[k])));
  const std::int32_t level = std::min(-kWideLevel - 1, kMaxNarrowCoefficient / most);
  constexpr auto twice = [](std::uint16_t pair) { return pair * 0x10001u; };
  steps.lowest_usual = twice(pack_pair(0, -level));
  steps.highest_usual = twice(pack_pair(kPairIndexMask, level));
}

/// A scan, for all its kernels. All pointers are device memory but `report` and perhaps `in`.
struct ScanArgs {
  const std::uint8_t* in;
  std::uint32_t in_bytes;  ///< may include bytes after the scan; below 2^29
  std::uint32_t lead;      ///< bytes before `in` from a multiple of 16 on
  std::uint32_t tiles;     ///< of unstuff_scan()
  /// `in` is pinned memory; the kernel behind unstuff_scan() may begin at once.
  bool is_on_host;
  /// No other scan is being decoded: the kernel behind unstuff_scan() may begin at once, and waits.
  /// Others in flight would have less room: 1920x1080, one of eight, takes 22 us with early
  /// launches and 18.4 without (H200).
  bool is_alone;

  ScanLayout layout;  ///< the blocks_wide of a component that is not wanted is 0
  PairCycle cycle;
  std::uint32_t intervals;
  std::uint32_t interval_blocks;  ///< blocks of every interval but the last
  std::uint32_t blocks;           ///< blocks of the scan
  std::uint32_t pair_capacity;    ///< the most pairs that the scan may have
  KnownDivisor by_interval_blocks, by_mcu_blocks, by_mcus_wide;
  ScanPlan plan;
  /// sync_subsequences() begins beside unstuff_scan() and follows its tiles, and transform_blocks()
  /// follows the chunks likewise (scan_progress.cuh).
  bool follows_bus;
  const WalkTables* tables;
  const ScanSteps* steps;

  // Passed from kernel to kernel.
  std::uint8_t* clean;            ///< [in_bytes + kCleanPadding + 3]: big-endian bytes of words
  std::uint32_t* interval_first;  ///< [intervals + 1]: the first clean byte; the last entry closes
                                  ///< the list
  OwnSubsequence* own;  ///< [plan.chunks * plan.chunk_subsequences]: for decode_subsequences()
  /// The pairs of the scan in order, and the levels for which pairs have no room: [pair_capacity];
  /// kMostWalkPairs more may be written.
  std::uint16_t* pairs;
  std::int16_t* wide;
  std::uint32_t* block_pair;  ///< [blocks + 1]: number of each block's first pair; the last entry
                              ///< is the number of pairs. kMostWalkPairs more may be written
  PlaneView plane[kMaxComponents];  ///< out, one a scan component that is wanted

  // States, zero at first.
  ScanSummary* summary;
  ScanReport* report;
  std::uint64_t* tile_states;       ///< [tiles]
  std::uint64_t* chunk_counts;      ///< [plan.chunks]: blocks and pairs, for looking back
  std::uint32_t* chunk_exit;        ///< [plan.chunks]: the state in which each chunk ends
  std::uint64_t* transform_states;  ///< [ceil(blocks / kTransformBlocks)]
  // Those of the scan before: unstuff_scan() sets them to 0.
  std::uint64_t* cleared;
  std::uint32_t cleared_words;

  ZR_HD const std::uint32_t* words() const { return reinterpret_cast<const std::uint32_t*>(clean); }
};

/// For each decoder, before its first scan, on the device that is current.
Status prepare_unstuff_scan();
Status prepare_sync_subsequences();
Status prepare_decode_subsequences();

Status unstuff_scan(const ScanArgs& args, cudaStream_t stream);
/// Finds where the first codeword of each subsequence begins, and how many blocks and pairs are
/// before it, as the stage huffman_sync does. If plan.collects is set, decodes the chunks, too.
Status sync_subsequences(const ScanArgs& args, cudaStream_t stream);
/// Writes pairs and block_pair, as the stage huffman_decode does, and proves what
/// sync_subsequences() found: a subsequence that does not end where the next one begins is a fault.
Status decode_subsequences(const ScanArgs& args, cudaStream_t stream);
Status transform_blocks(const ScanArgs& args, cudaStream_t stream);

/// The source of the tables.
struct ScanTablesSource {
  WalkCodes codes;
  ScanSteps steps;
  bool operator==(const ScanTablesSource&) const = default;
};
static_assert(sizeof(ScanTablesSource) + 2 * sizeof(void*) <= 4096, "parameters of a kernel");

/// Fills the first `pairs` pairs of `tables`, perhaps none, and `steps`, both in device memory,
/// behind all that was enqueued before. `from` is copied by the call.
Status make_scan_tables(const ScanTablesSource& from, int pairs, WalkTables* tables,
                        ScanSteps* steps, cudaStream_t stream);

}  // namespace zerorun
