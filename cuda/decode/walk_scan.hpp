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

  // From the plan (scan_plan.hpp).
  std::uint32_t chunks;              ///< enough for all subsequences
  std::uint32_t chunk_subsequences;  ///< of each
  std::uint32_t guess_stride;        ///< a power of two
  std::uint32_t most_ends, mark_slots, most_serial_walks;
  bool collects;    ///< sync_subsequences() decodes the chunks, too
  bool exhaustive;  ///< by walks from every bit
  /// States of unstuff_scan()'s tiles, which a collecting sync_subsequences() follows, as
  /// transform_blocks() follows the states in `chunk_counts`; null if each kernel begins after the
  /// one before.
  const std::uint64_t* tile_states;
  std::uint32_t tiles;
  OwnSubsequence* own;          ///< out, [chunks * chunk_subsequences]: for decode_subsequences()
  std::uint64_t* chunk_counts;  ///< [chunks], zero at first: blocks and pairs, for looking back
  std::uint32_t* chunk_exit;    ///< [chunks], zero at first: the state in which each chunk ends
};

/// For each decoder, before its first scan, on the device that is current.
Status prepare_sync_subsequences();
Status prepare_decode_subsequences();

// `shared_bytes`: of a CTA, from scan_plan.hpp.

/// Finds where the first codeword of each subsequence begins, and how many blocks and pairs are
/// before it, as the stage huffman_sync does. Then it decodes the chunks itself, if args.collects
/// is set, or leaves them to decode_subsequences().
Status sync_subsequences(const WalkArgs& args, std::size_t shared_bytes, LaunchChain& chain);

/// Writes pairs and block_pair, as the stage huffman_decode does, and proves what
/// sync_subsequences() found: a subsequence that does not end where the next one begins is a fault.
Status decode_subsequences(const WalkArgs& args, std::size_t shared_bytes, LaunchChain& chain);

}  // namespace zerorun
