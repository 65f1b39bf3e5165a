// How a scan is decoded: a pure function of its header, its sizes and the limits of the device. And
// what else decides: the strategy that decoded the last scans, what tests choose, other scans in
// flight. Host code, so that a test can ask for any device.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "cuda/base/device_limits.hpp"
#include "cuda/decode/scan_memory.hpp"
#include "cuda/decode/tuning.hpp"

namespace zerorun {

/// How the starts of the subsequences are found.
enum class Strategy : std::uint8_t {
  map,        ///< walks from guesses, and maps from start states to end states
  exhaustive  ///< walks from every bit: one of them is right by construction
};

/// What the plan depends on.
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

/// One colour with 2 bits a block takes 310 us with medium chunks, and 279 without: its walks
/// follow each other from chunk to chunk.
inline constexpr std::uint32_t kFewestMediumChunkBits = 4;
/// Whether the chunks should be the smaller ones: the scan is so short that it would not fill the
/// device otherwise.
constexpr bool has_medium_chunks(const DeviceLimits& limits, const ScanNeeds& scan) {
  const std::uint32_t quarters = scan.is_followed ? kFollowedMediumQuarters : kMediumChunkQuarters;
  return bits_of_block(scan) >= kFewestMediumChunkBits &&
         ceil_div(scan.subsequences, kMediumChunk) <= limits.processors * quarters / 4;
}

/// What both strategies need, when the size of the chunks is known.
constexpr void finish_plan(ScanPlan& plan, const DeviceLimits& limits, const ScanNeeds& scan,
                           std::uint32_t wanted_ends) {
  plan.chunks = ceil_div(scan.subsequences, plan.chunk_subsequences);
  plan.most_ends = choose_ends(limits.shared_of_cta, scan.pairs, wanted_ends);
  plan.sync_bytes = sync_shared_bytes(scan.pairs, plan.most_ends);
  plan.decode_bytes = decode_shared_bytes(scan.pairs);
}

/// Sparse scans have at most so many guesses: those of 4:2:0.
inline constexpr std::uint32_t kSparseGuesses = 6;

constexpr ScanPlan plan_map(const DeviceLimits& limits, const ScanNeeds& scan) {
  ScanPlan plan{};
  plan.fits = map_fits(limits.shared_of_cta, scan.pairs, scan.period);
  if (!plan.fits) return plan;
  plan.collects =
      scan.period <= kSparseGuesses && scan.blocks > 0 && bits_of_block(scan) <= kSparseBits;
  const bool is_medium = plan.collects && has_medium_chunks(limits, scan);
  plan.chunk_subsequences = is_medium ? kMediumChunk : kChunkSubsequences;
  plan.guess_stride = is_medium ? kMediumGuessStride : kGuessStride;
  // Unless medium chunks follow the bus, each has a processor for itself.
  const bool is_crowded = plan.collects && (scan.is_followed || !is_medium);
  finish_plan(plan, limits, scan, is_crowded ? kSparseEnds : kMostEnds);
  plan.most_serial_walks = kSerialWalks + kSerialWalksOfChunk * plan.chunks;
  return plan;
}

constexpr ScanPlan plan_exhaustive(const DeviceLimits& limits, const ScanNeeds& scan) {
  ScanPlan plan{};
  plan.strategy = Strategy::exhaustive;
  plan.chunk_subsequences = kChunkSubsequences;
  finish_plan(plan, limits, scan, kSparseEnds);
  plan.mark_slots = choose_mark_slots(plan.most_ends);
  plan.fits = map_fits(limits.shared_of_cta, scan.pairs, scan.period) && plan.mark_slots != 0 &&
              has_seed_room(plan.most_ends);
  plan.most_serial_walks = kLastSerialWalks + kLastSerialWalksOfChunk * plan.chunks;
  return plan;
}

constexpr ScanPlan plan_scan(const DeviceLimits& limits, const ScanNeeds& scan, Strategy strategy) {
  return strategy == Strategy::map ? plan_map(limits, scan) : plan_exhaustive(limits, scan);
}

/// StrategyMemory: shapes, and scans that skip the map strategy. (Chosen by reasoning.)
inline constexpr std::size_t kStrategyShapes = 8;
inline constexpr std::uint32_t kStrategyTrust = 7;

/// The shapes of the last kStrategyShapes scans that the map strategy failed and the exhaustive
/// strategy decoded: the next frame of a video is like them, and a decoder may serve several videos
/// in turn. With it patterns and halftones take 0.4 to 0.75 ms a frame, and 1.1 to 1.5 without it
/// (H100). One instance per decoder.
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

  /// Whether the exhaustive strategy should come first. True for kStrategyTrust scans of a shape;
  /// then the map strategy is tried again.
  bool skips_map(const Shape& scan) {
    const auto known = std::ranges::find_if(
        known_, [&](const Known& k) { return k.left != 0 && scan.is_like(k.shape); });
    if (known == known_.end()) return false;
    --known->left;
    return true;
  }

  /// After the map strategy was tried. `failed`: the exhaustive strategy decoded the scan.
  void map_was_tried(const Shape& scan, bool failed) {
    const auto known =
        std::ranges::find_if(known_, [&](const Known& k) { return scan.is_like(k.shape); });
    if (!failed) {
      if (known != known_.end()) *known = {};
      return;
    }
    const auto slot = known != known_.end() ? known : known_.end() - 1;
    *slot = {scan, kStrategyTrust};
    std::rotate(known_.begin(), slot, slot + 1);  // the newest first
  }

 private:
  struct Known {
    Shape shape;
    std::uint32_t left;  ///< scans that skip the map strategy
  };
  std::array<Known, kStrategyShapes> known_{};
};

/// How a decoder is created. Only tests change these values.
struct DecodeChoices {
  /// The exhaustive strategy alone, if the device has the memory for it.
  bool exhaustive_only = false;
  /// Scans in pinned memory follow the bus, however short they are and whatever else is decoded.
  bool always_follows_bus = false;
  /// The CPU pipeline decodes all scans.
  bool cpu_only = false;
};

/// What decoders are created with from now on. Not thread-safe.
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
