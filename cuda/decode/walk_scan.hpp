// The kernels that walk over the bits of a scan: clean bytes -> (run, level) pairs. Any scan is
// decoded by sync_subsequences(), alone or with decode_subsequences() behind it.
// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/base/launch_chain.hpp"
#include "cuda/decode/scan_memory.hpp"
#include "cuda/decode/walk_tables.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

/// All pointers are device memory.
struct WalkArgs {
  const std::uint32_t* words;           ///< clean bytes
  const std::uint32_t* interval_first;  ///< [intervals + 1]: number of the first clean byte
  const WalkTables* tables;
  PairCycle cycle;
  std::uint32_t intervals;
  std::uint32_t interval_blocks;  ///< blocks of every interval but the last
  std::uint32_t blocks;           ///< blocks of the scan
  std::uint32_t pair_capacity;    ///< the most pairs that the scan may have
  ScanSummary* summary;
  std::uint16_t* pairs;       ///< out, [pair_capacity]: the pairs of the scan in order;
                              ///< kMostWalkPairs more may be written
  std::int16_t* wide;         ///< out, likewise: the levels for which pairs have no room
  std::uint32_t* block_pair;  ///< out, [blocks + 1]: number of each block's first pair; the last
                              ///< entry is the number of pairs. kMostWalkPairs more may be
                              ///< written

  std::uint32_t chunks;              ///< enough for all subsequences
  std::uint32_t chunk_subsequences;  ///< of each; from scan_plan.hpp
  /// Distance between subsequences that are walked from guesses, a power of two. 0: none is, and
  /// intervals are followed from their beginning.
  std::uint32_t guess_stride;
  std::uint32_t most_ends;   ///< ends kept of a subsequence; from scan_plan.hpp
  std::uint32_t long_slots;  ///< states kept at a mark of long walks, or 0; likewise
  bool far_only;             ///< all chunks are synchronised by long walks; likewise
  bool every_bit;            ///< these begin at every bit, not at guesses; likewise
  /// The most subsequences that are walked one after the other, singly and in long walks; with more
  /// the scan is given up; likewise.
  std::uint32_t most_late_walks, most_late_long_walks;
  /// A chunk may take it for known where it begins, before the chunk before tells, if all walks
  /// from some subsequences before agree; likewise.
  bool assumes;
  /// A chunk may tell its end before it knows where it begins, if the end seems to be the same
  /// wherever that is.
  bool foretells;
  bool collects;      ///< sync_subsequences() decodes the chunks, too; likewise. It always does in
                      ///< chunks that are not the largest
  bool offers_early;  ///< ends of walks that repeat a few bits; likewise
  /// States of unstuff_scan()'s tiles, which a collecting sync_subsequences() follows, as
  /// transform_blocks() follows the states in `chunk_counts`; or null if each begins after the
  /// other.
  const std::uint64_t* tile_states;
  std::uint32_t tiles;
  SubsequenceStart* starts;     ///< out, [chunks * chunk_subsequences]
  OwnSubsequence* own;          ///< likewise, for decode_subsequences()
  std::uint64_t* chunk_counts;  ///< [chunks], zero at first: blocks and pairs, for looking back
  std::uint32_t* chunk_exit;    ///< [chunks], zero at first
  std::uint16_t* chunk_ends;    ///< [chunks * kChunkEndWords]: a number, and so many states
};

/// For each decoder, before its first scan, on the device that is current.
Status prepare_sync_subsequences();
Status prepare_decode_subsequences();

// `shared_bytes`: of a CTA, from scan_plan.hpp.

/// Finds where the first codeword of each subsequence begins, and how many blocks and pairs are
/// before it: writes starts and chunk_counts, as the stage huffman_sync does. Then it decodes the
/// chunks, if args.collects is set, as decode_subsequences() does.
Status sync_subsequences(const WalkArgs& args, std::size_t shared_bytes, LaunchChain& chain);

/// Writes pairs and block_pair, as the stage huffman_decode does, and proves what
/// sync_subsequences() found: a subsequence that does not end where the next one begins is a fault.
Status decode_subsequences(const WalkArgs& args, std::size_t shared_bytes, LaunchChain& chain);

}  // namespace zerorun
