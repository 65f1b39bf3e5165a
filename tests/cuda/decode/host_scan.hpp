// Whole scans on the host: by the GPU decoder's algorithm, and by the stages of the CPU. Unit
// tests and tests/fuzz/walk_fuzz.cpp share them.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "codec/decode/huffman_decode.hpp"
#include "codec/syntax/header_parser.hpp"
#include "tests/cuda/decode/host_subsequences.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::test {

/// A scan without stuffing and markers.
struct CleanScan {
  ScanHeader header;
  std::vector<std::uint8_t> bytes;            ///< followed by a few more
  std::vector<std::uint32_t> interval_first;  ///< the first byte of each; the last entry closes
  bool restarts_fit = true;  ///< as many intervals as the image has, and RSTm in order
};

/// The first `most` scans of a stream, up to a header that is refused.
std::vector<CleanScan> read_scans(std::span<const std::byte> jpeg, std::int64_t max_pixels,
                                  std::size_t most);

/// That of a frame, encoded on the CPU; none after an error.
std::optional<CleanScan> encoded_scan(const ConstFrameView& frame, EncodeParams params);

/// Levels as the stream has them: no AC index is dequantised, no DC predicted.
struct ScanLevels {
  std::vector<std::int16_t> coefficients;  ///< [blocks][64] in natural order, 0 for the DC
  std::vector<std::int16_t> diff;
  bool operator==(const ScanLevels&) const = default;
};

/// Tables and cursors of the CPU's stages.
HuffmanDecodeTables stage_tables(const ScanHeader& header);
std::vector<BitCursor> cursors_of(const CleanScan& scan);

/// What huffman_decode makes of a scan.
struct CodedBlocks {
  std::vector<BitCursor> cursors;
  std::vector<RunLevel> pairs;       ///< [blocks][64]
  std::vector<std::uint8_t> counts;  ///< of pairs of each block
};

/// What the CPU's stages make of it. No levels if there is a fault: a damaged block, bytes left
/// over, wrong restart markers (with these, no blocks).
struct StageScan {
  bool fault = false;
  bool padded_with_ones = true;
  CodedBlocks blocks;
  ScanLevels levels;
};
StageScan decode_by_stages(const CleanScan& scan);

/// What the GPU decoder's algorithm makes of it. Levels if there is no fault.
struct FastScan {
  std::uint32_t faults = 0;
  ScanLevels levels;
  /// The first promise that the algorithm broke: decoding did not go as skipping had.
  const char* broken = nullptr;
};
FastScan decode_fast(const CleanScan& scan, const HostTables& tables,
                     std::span<const std::uint32_t> words);

/// How the GPU decoder's result contradicts that of the CPU's stages, or null.
const char* contradiction(const StageScan& stages, const FastScan& fast);

/// How the staged decoder's algorithm, with subsequences of so many bits, contradicts the CPU's
/// stages, or null: sync points, cursors and pairs.
const char* staged_contradiction(const CleanScan& scan, const StageScan& stages,
                                 std::int32_t subsequence_bits);

/// A subsequence by its number (first_subsequence_of()), and where it truly begins.
struct Subsequence {
  std::uint32_t start = 0, end = 0;  ///< its first bit, and its interval's end; 0: there is none
  bool head = false, open = false;   ///< begins its interval; its interval goes on behind it
  Walk entry{};  ///< by walks from the interval's beginning on, whatever the bits are
  WalkTally tally{};
};
std::vector<Subsequence> subsequences_of(const CleanScan& scan, const HostTables& tables,
                                         std::span<const std::uint32_t> words);

/// The tables of the scan's pairs.
std::vector<TablePair> tables_of(const ScanHeader& header, const PairCycle& cycle);

}  // namespace zerorun::test
