// The fast decoder's first kernel: stuffed bytes -> clean bytes, and where each restart interval
// begins. It does what the stage byte_unstuff and, for an undamaged scan, the restart plan do.
// SPDX-License-Identifier: MIT
#pragma once

#include "codec/arith/integer.hpp"
#include "cuda/base/launch_chain.hpp"
#include "cuda/decode/scan_memory.hpp"
#include "cuda/decode/tuning.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

/// All pointers are device memory but `report` and, if the scan is followed, `in`.
struct UnstuffScanArgs {
  const std::uint8_t* in;
  std::uint32_t in_bytes;  ///< may include bytes after the scan; below 2^29
  std::uint32_t intervals;
  /// `in` is pinned memory; the kernel behind this one may begin at once, and follows the progress
  /// (scan_progress.cuh).
  bool is_followed;
  /// No other scan is being decoded: the kernel behind this one may begin at once, and waits.
  /// Others in flight would have less room meanwhile: with early launches 1920x1080, one of eight,
  /// took 22 us instead of 18.4 (H200).
  bool is_alone;
  std::uint8_t* clean;  ///< out, [in_bytes + kCleanPadding + 3]: big-endian bytes of words
  std::uint32_t* interval_first;  ///< out, [intervals + 1]: the first clean byte; the last entry
                                  ///< closes the list
  std::uint64_t* states;          ///< [unstuff_tiles()], zero
  ScanSummary* summary;
  ScanReport* report;
  std::uint64_t* cleared;  ///< out, [cleared_words]: set to 0
  std::uint32_t cleared_words;
  ScanSummary* cleared_summary;  ///< likewise; not `summary`
};

/// Tiles of bytes that begin `lead` bytes after a multiple of 16.
inline std::uint32_t unstuff_tiles(std::uint32_t in_bytes, std::uint32_t lead) {
  return ceil_div(in_bytes + lead, kUnstuffTileBytes);
}

/// For each decoder, before its first scan, on the device that is current.
Status prepare_unstuff_scan();

Status unstuff_scan(const UnstuffScanArgs& args, LaunchChain& chain);

}  // namespace zerorun
