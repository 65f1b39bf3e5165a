// How a scan is decoded: a pure function of its header, its sizes and the limits of the device. And
// what else decides: the strategy that decoded the last scans, what tests choose, other scans in
// flight. Host code, so that a test can ask for any device: one allows a CTA 99 KiB of shared
// memory where its compute capability is 8.6, 8.9 or 12.x, 163 KiB with 8.0, 227 KiB with 9.0.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "cuda/base/device_limits.hpp"
#include "cuda/decode/chunk_states.hpp"
#include "cuda/decode/subsequence_walk.hpp"

namespace zerorun {

// The shared memory of a CTA of the kernels that walk over bits.

/// Words of SharedTables for `pairs` pairs of code tables with 2^index_bits entries each.
constexpr std::uint32_t shared_table_words(std::uint32_t pairs, int index_bits) {
  constexpr std::uint32_t kBlockWords = 4;
  return (2 * pairs << index_bits) + kMaxBlocksPerMcu * kBlockWords;
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

// The plan.

/// How the starts of the subsequences are found.
enum class Strategy : std::uint8_t {
  map,        ///< walks from guesses, and maps from start states to end states
  exhaustive  ///< walks from every bit: one of them is right by construction
};

/// The input of the plan.
struct ScanNeeds {
  std::uint32_t bytes, blocks, subsequences;
  std::uint32_t pairs;          ///< of code tables
  std::uint32_t period;         ///< blocks after which the tables repeat
  bool standard_codes = false;  ///< all tables are those of T.81 Annex K
  bool is_followed = false;     ///< its chunks begin as their bytes come over the bus
};

/// For sync_subsequences() and, unless that collects the pairs, decode_subsequences().
struct ScanPlan {
  bool fits;  ///< the device has the shared memory for this strategy and these tables
  Strategy strategy;
  std::uint32_t chunks, chunk_subsequences;
  std::uint32_t guess_stride;       ///< map: distance between subsequences with guesses
  std::uint32_t most_ends;          ///< map: end states kept of a subsequence
  std::uint32_t mark_slots;         ///< exhaustive: states kept at a mark
  std::uint32_t most_serial_walks;  ///< with more subsequences walked serially the attempt fails
  bool collects;                    ///< one kernel synchronises and decodes
  std::size_t sync_bytes, decode_bytes;  ///< shared memory of a CTA
};

/// Bits of a block on average.
constexpr std::uint64_t bits_of_block(const ScanNeeds& scan) {
  return scan.blocks > 0 ? std::uint64_t{scan.bytes} * 8 / scan.blocks : 0;
}

/// Walks through dense blocks meet late, and their end states do not fit into shared memory.
constexpr Strategy first_strategy(const ScanNeeds& scan) {
  const std::uint32_t dense = scan.standard_codes ? kDenseStandardBits : kDenseBits;
  return bits_of_block(scan) > dense ? Strategy::exhaustive : Strategy::map;
}

/// Whether the chunks should be the smaller ones: the scan is so short that it would not fill the
/// device otherwise.
constexpr bool has_medium_chunks(const DeviceLimits& limits, const ScanNeeds& scan) {
  const std::uint32_t quarters = scan.is_followed ? kFollowedMediumQuarters : kMediumChunkQuarters;
  return ceil_div(scan.subsequences, kMediumChunk) <= limits.processors * quarters / 4;
}

/// Sparse scans have at most so many guesses: those of 4:2:0.
inline constexpr std::uint32_t kSparseGuesses = 6;

constexpr ScanPlan plan_scan(const DeviceLimits& limits, const ScanNeeds& scan, Strategy strategy) {
  const bool maps = strategy == Strategy::map;
  ScanPlan plan{};
  plan.strategy = strategy;
  plan.collects = maps && scan.period <= kSparseGuesses && scan.blocks > 0 &&
                  bits_of_block(scan) <= kSparseBits;
  const bool is_medium = plan.collects && has_medium_chunks(limits, scan);
  plan.chunk_subsequences = is_medium ? kMediumChunk : kChunkSubsequences;
  plan.guess_stride = is_medium ? kMediumGuessStride : kGuessStride;
  plan.chunks = ceil_div(scan.subsequences, plan.chunk_subsequences);
  plan.most_ends = choose_ends(limits.shared_of_cta, scan.pairs,
                               maps && !plan.collects ? kMostEnds : kSparseEnds);
  plan.mark_slots = choose_mark_slots(plan.most_ends);
  const std::uint32_t serial_walks = kSerialWalks + kSerialWalksOfChunk * plan.chunks;
  plan.most_serial_walks = maps ? serial_walks : kLastSerialWalks * serial_walks;
  plan.sync_bytes = sync_shared_bytes(scan.pairs, plan.most_ends);
  plan.decode_bytes = decode_shared_bytes(scan.pairs);
  plan.fits = map_fits(limits.shared_of_cta, scan.pairs, scan.period) &&
              (maps || (plan.mark_slots != 0 && has_seed_room(plan.most_ends)));
  return plan;
}

/// The shape of the last scan that the map strategy failed and the exhaustive strategy decoded: the
/// next frame of a video is like it. With it patterns and halftones take 0.4 to 0.75 ms a frame,
/// and 1.1 to 1.5 without it (H100). One instance per decoder.
class StrategyMemory {
 public:
  struct Shape {
    std::uint32_t blocks, bytes;
    /// The same blocks, and bytes that differ by at most a sixteenth.
    bool is_like(const Shape& other) const {
      const std::uint32_t apart = bytes > other.bytes ? bytes - other.bytes : other.bytes - bytes;
      return blocks == other.blocks && apart <= other.bytes / 16;
    }
  };

  /// Whether the exhaustive strategy should come first. True for kStrategyTrust scans of the shape;
  /// then the map strategy is tried again.
  bool skips_map(const Shape& scan) {
    if (left_ == 0 || !scan.is_like(failed_)) return false;
    --left_;
    return true;
  }

  /// After the map strategy was tried. `failed`: the exhaustive strategy decoded the scan.
  void map_was_tried(const Shape& scan, bool failed) {
    if (failed) {
      failed_ = scan;
      left_ = kStrategyTrust;
    } else if (scan.is_like(failed_)) {
      left_ = 0;
    }
  }

 private:
  Shape failed_{};
  std::uint32_t left_ = 0;  ///< scans that skip the map strategy
};

/// How a decoder is created. Only tests change these values.
struct DecodeChoices {
  /// The exhaustive strategy alone, if the device has the memory for it.
  bool exhaustive_only = false;
  /// Scans in pinned memory follow the bus, however short they are and whatever else is decoded.
  bool always_follows_bus = false;
};

/// The choices of decoders that are created from now on. Not thread-safe.
inline DecodeChoices& default_decode_choices() {
  static DecodeChoices choices;
  return choices;
}

/// A scan that the process is decoding on a device, while this lives. Thread-safe.
class ScanInFlight {
 public:
  explicit ScanInFlight(int device) : all_(of(device)), others_(all_.fetch_add(1)) {}
  ScanInFlight(const ScanInFlight&) = delete;
  ScanInFlight& operator=(const ScanInFlight&) = delete;
  ~ScanInFlight() { all_.fetch_sub(1); }

  /// Whether there was no other when it began.
  bool is_alone() const { return others_ == 0; }

 private:
  static std::atomic<int>& of(int device) {
    static std::array<std::atomic<int>, 64> all{};
    return all[static_cast<std::size_t>(device) % all.size()];
  }

  std::atomic<int>& all_;
  const int others_;
};

}  // namespace zerorun
