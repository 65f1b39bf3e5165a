// What the kernels pass to each other in device memory, and how much shared memory those that walk
// over bits ask for. A device allows a CTA 99 KiB where its compute capability is 8.6, 8.9 or 12.x,
// 163 KiB with 8.0, 227 KiB with 9.0. Host code, so that a test can ask for any device.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/arith/integer.hpp"
#include "cuda/decode/mark_states.hpp"
#include "cuda/decode/subsequence_ends.hpp"
#include "cuda/decode/subsequence_walk.hpp"
#include "cuda/decode/tuning.hpp"

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

/// What makes the pairs useless; kFault… bits. Other CTAs may just be finding more.
ZR_HD std::uint32_t faults_of(const ScanSummary& summary) {
  return summary.faults | summary.walk_faults | (summary.unsettled != 0 ? kFaultUnsettled : 0);
}

/// Zero bytes after the clean ones, because words are read ahead.
inline constexpr std::uint32_t kCleanPadding = 32;

/// What the host gets to know. Pinned memory, written by the device.
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

/// Pairs behind the scan's last one that transform_blocks() may read, but does not use.
inline constexpr std::uint32_t kPairsReadBehind = kPairsPerThread - 1;

/// In place of the number of a CTA's first word: it has no subsequences.
inline constexpr std::uint32_t kNoWord = 0xFFFFFFFF;

/// Blocks and pairs in one word, so that one addition adds both.
ZR_HD std::uint64_t pack_counts(std::uint32_t blocks, std::uint32_t pairs) {
  return std::uint64_t{blocks} << 32 | pairs;
}
ZR_HD std::uint32_t blocks_of(std::uint64_t counts) {
  return static_cast<std::uint32_t>(counts >> 32);
}
ZR_HD std::uint32_t pairs_of(std::uint64_t counts) { return static_cast<std::uint32_t>(counts); }

/// Words of SharedTables for `pairs` pairs of code tables with 2^index_bits entries each.
constexpr std::uint32_t shared_table_words(std::uint32_t pairs, int index_bits) {
  constexpr std::uint32_t kBlockWords = 4;
  return (2 * pairs << index_bits) + kMaxBlocksPerMcu * kBlockWords + pairs * kLastCodes / 2;
}

/// The most words that `subs` consecutive subsequences lie in, wherever they begin.
constexpr std::uint32_t words_of_subsequences(std::uint32_t subs) {
  return subs * (kSubsequenceBits / 32) + 5;
}
/// Words that are copied by one instruction.
inline constexpr std::uint32_t kVectorWords = 4;
/// Room for the words of a CTA's subsequences, of which whole vectors are copied, from a multiple
/// of `unit` words on.
constexpr std::uint32_t chunk_words(std::uint32_t subs, std::uint32_t unit = kVectorWords) {
  return round_up(words_of_subsequences(subs) + unit - 1, kVectorWords);
}
/// For sync_subsequences(), whose copies begin at multiples of 64 bytes in both memories: 512 bytes
/// then take 4 or 8 accesses of shared memory, and 16 from another multiple of 16. A 3840x2160
/// photo at q90, one at a time, takes 2 % less so (H200).
inline constexpr std::uint32_t kSyncCopyUnit = 16;

/// Subsequences that a CTA of sync_subsequences() has room for, those before its chunk included.
inline constexpr std::uint32_t kRoom = kWarmSubsequences + kChunkSubsequences;
/// Words that a CTA has without its tables: for itself, and for each end that is kept of its
/// subsequences. ChunkMemory has these sizes. The tables behind it are copied by vectors.
inline constexpr std::uint32_t kEndWords = kRoom * 5 / 2, kChunkMemoryWords = 3604;
static_assert(kEndWords % kVectorWords == 0 && kChunkMemoryWords % kVectorWords == 0);
ZR_HD constexpr std::uint32_t sync_words(std::uint32_t ends) {
  return kChunkMemoryWords + ends * kEndWords;
}
constexpr std::size_t sync_shared_bytes(std::uint32_t pairs, std::uint32_t ends) {
  return sizeof(std::uint32_t) * (sync_words(ends) + shared_table_words(pairs, kSkipBits));
}

/// States that the exhaustive strategy keeps at each mark, in the memory of all ends but one; 0:
/// too few to be of use. A mark has three bytes for each state, and two; each state of one mark has
/// a byte more.
constexpr std::uint32_t choose_mark_slots(std::uint32_t ends) {
  constexpr std::uint32_t kMarks = kRoom / kMarkSubsequences;
  const std::uint32_t bytes = ends == 0 ? 0 : (ends - 1) * kEndWords * 4;
  for (std::uint32_t slots = kMarkSlots; slots >= kMarkSlots / 4; slots /= 2)
    if (kMarks * (3 * slots + 2) + slots <= bytes) return slots;
  return 0;
}

/// Whether the memory of the ends has room for the lists of walks from every bit.
constexpr bool has_seed_room(std::uint32_t ends) {
  return ends * kEndWords * 4 >= DistinctStates::bytes();
}

inline constexpr std::uint32_t kChunkWords = chunk_words(kChunkSubsequences);
constexpr std::size_t decode_shared_bytes(std::uint32_t pairs) {
  return sizeof(std::uint32_t) * (kChunkWords + shared_table_words(pairs, kSymbolIndexBits));
}

/// Ends to keep of each subsequence: those wanted, or as many as there is memory for. States that
/// find no room are walked one after the other, so fewer ends change the speed alone.
constexpr std::uint32_t choose_ends(std::size_t limit, std::uint32_t pairs, std::uint32_t wanted) {
  while (wanted > 0 && sync_shared_bytes(pairs, wanted) > limit) --wanted;
  return wanted;
}

/// Whether the map strategy can decode a scan: each guess (one for each block of the period) needs
/// an end of its own. decode_subsequences() has 16 bytes more than it asks for.
constexpr bool map_fits(std::size_t limit, std::uint32_t pairs, std::uint32_t period) {
  return choose_ends(limit, pairs, period) == period && decode_shared_bytes(pairs) + 16 <= limit;
}

}  // namespace zerorun
