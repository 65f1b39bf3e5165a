// Whole scans on the host: by the fast decoder's algorithm, and by the stages of the CPU.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "codec/syntax/header_parser.hpp"
#include "tests/cuda/decode/host_subsequences.hpp"

namespace zerorun::test {

/// A scan without stuffing and markers.
struct CleanScan {
  ScanHeader header;
  std::vector<std::uint8_t> bytes;            ///< followed by a few more
  std::vector<std::uint32_t> interval_first;  ///< the first byte of each; the last entry closes
  bool restarts_fit = true;  ///< as many intervals as the image has, and RSTm in order
};

/// The first scan of a stream, unless its headers are refused.
std::optional<CleanScan> read_scan(std::span<const std::byte> jpeg);

/// Levels as the stream has them: no AC index is dequantised, no DC predicted.
struct ScanLevels {
  std::vector<std::int16_t> coefficients;  ///< [blocks][64] in natural order, 0 for the DC
  std::vector<std::int16_t> diff;
  bool operator==(const ScanLevels&) const = default;
};

/// What the CPU's stages make of it. No levels if there is a fault: a damaged block, bytes left
/// over, wrong restart markers.
struct StageScan {
  bool fault = false;
  bool padded_with_ones = true;
  ScanLevels levels;
};
StageScan decode_by_stages(const CleanScan& scan);

/// What the fast decoder's algorithm makes of it. Levels if there is no fault.
struct FastScan {
  std::uint32_t faults = 0;
  ScanLevels levels;
  /// The first promise that the algorithm broke: decoding did not go as skipping had.
  const char* broken = nullptr;
};
FastScan decode_fast(const CleanScan& scan);

/// The states before the subsequences of interval 0, by walks from the first one on.
std::vector<Walk> subsequence_entries(const CleanScan& scan, const HostTables& tables);

/// The tables of the scan's pairs.
std::vector<TablePair> tables_of(const ScanHeader& header, const PairCycle& cycle);

}  // namespace zerorun::test
