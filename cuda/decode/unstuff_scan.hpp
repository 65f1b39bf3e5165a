// The fast decoder's first kernel: stuffed bytes -> clean bytes, and where each restart interval
// begins. It does what the stage byte_unstuff and, for an undamaged scan, the restart plan do. If
// the stream has an index of the scan, some of its CTAs sum up the index's entries.
// SPDX-License-Identifier: MIT
#pragma once

#include "codec/arith/integer.hpp"
#include "cuda/base/launch_chain.hpp"
#include "cuda/decode/scan_memory.hpp"
#include "cuda/decode/tuning.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

/// All pointers are device memory. All 0 without an index.
struct SumGroupsArgs {
  const std::uint8_t* entries;  ///< the first one in the stream
  std::uint32_t groups;
  std::uint64_t* sums;    ///< out, [groups + 1]: the sum before each group
  std::uint64_t* states;  ///< [sum_tiles()], zero
};

/// All pointers are device memory but `report` and, if the scan is followed, `in`.
struct UnstuffScanArgs {
  const std::uint8_t* in;
  std::uint32_t in_bytes;  ///< may include bytes after the scan; below 2^29
  std::uint32_t intervals;
  /// `in` is pinned memory; the kernel behind this one may begin at once, and follows the progress
  /// (scan_progress.cuh). Without an index.
  bool is_followed;
  /// No other scan is being decoded: the kernel behind this one may begin at once, and waits.
  /// 3840x2160 by an index takes 105.0 us so, and 106.9 otherwise. Others in flight would have less
  /// room meanwhile: with early launches 1920x1080, one of eight, took 22 us instead of 18.4
  /// (H200).
  bool is_alone;
  std::uint8_t* clean;  ///< out, [in_bytes + kCleanPadding + 3]: big-endian bytes of words
  std::uint32_t* interval_first;  ///< out, [intervals + 1]: the first clean byte; the last entry
                                  ///< closes the list
  std::uint64_t* states;          ///< [unstuff_tiles()], zero
  ScanSummary* summary;
  ScanReport* report;
  SumGroupsArgs index;
  std::uint64_t* cleared;  ///< out, [cleared_words]: set to 0
  std::uint32_t cleared_words;
  ScanSummary* cleared_summary;  ///< likewise; not `summary`
};

/// Tiles of bytes that begin `lead` bytes after a multiple of 16.
inline std::uint32_t unstuff_tiles(std::uint32_t in_bytes, std::uint32_t lead) {
  return ceil_div(in_bytes + lead, kUnstuffTileBytes);
}

/// CTAs that sum up an index of `groups` groups; one more entry has the sum of all.
inline std::uint32_t sum_tiles(std::uint32_t groups) {
  return groups == 0 ? 0 : groups / kSumTileGroups + 1;
}

/// For each decoder, before its first scan, on the device that is current.
Status prepare_unstuff_scan();

Status unstuff_scan(const UnstuffScanArgs& args, LaunchChain& chain);

}  // namespace zerorun
