// How the kernels that walk over the bits of a scan are launched: from the limits of the device and
// what the scan needs. Pure host code, so that a test can ask for any device.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/base/device_limits.hpp"
#include "cuda/decode/shared_memory.hpp"

namespace zerorun {

/// Whether a scan is synchronised by long walks alone, and where these begin.
enum class FarWalks : std::uint8_t {
  if_dense,        ///< at guesses, if the scan has many bits a block
  from_guesses,    ///< whatever the scan is
  from_every_bit,  ///< likewise
};

/// What the walks have to know about a scan.
struct ScanNeeds {
  std::uint32_t bytes, blocks, intervals, subsequences;
  std::uint32_t pairs;                      ///< of code tables
  std::uint32_t period;                     ///< blocks after which the tables repeat
  bool standard_codes = false;              ///< all tables are those of T.81 Annex K
  bool large_chunks = false;                ///< whatever the scan's size, and two kernels
  bool few_guesses = false;                 ///< one like it had no room for the ends of all guesses
  bool two_kernels = false;                 ///< in the largest chunks, however sparse it is
  bool is_followed = false;                 ///< its chunks begin as their bytes come over the bus
  FarWalks far_walks = FarWalks::if_dense;  ///< if there is memory for them
  bool more_late_walks = false;             ///< no other way is left, or one like it needed them
};

/// For sync_subsequences() and, unless that collects the pairs, decode_subsequences().
struct SubsequencePlan {
  bool fits;  ///< otherwise the scan is for the careful decoder
  std::uint32_t chunks, chunk_subsequences;
  std::uint32_t most_ends, guess_stride, long_slots;
  bool offers_early;  ///< ends of walks that repeat a few bits
  bool far_only;      ///< all chunks are synchronised by long walks
  bool every_bit;     ///< these begin at every bit, not at guesses
  std::uint32_t most_late_walks, most_late_long_walks;  ///< with more the scan is given up
  bool assumes;                                         ///< as in WalkArgs
  bool collects;                         ///< one kernel synchronises and decodes; always so in
                                         ///< chunks that are not the largest
  std::size_t sync_bytes, decode_bytes;  ///< shared memory of a CTA
};

/// Subsequences of a chunk of a sparse scan. `is_apart`: short intervals keep walks from following
/// each other from chunk to chunk.
constexpr std::uint32_t choose_chunk(const DeviceLimits& limits, std::uint32_t subsequences,
                                     std::uint64_t block_bits, bool is_apart,
                                     std::uint32_t medium_quarters) {
  const auto fits = [&](std::uint32_t size, std::uint32_t quarters) {
    return ceil_div(subsequences, size) <= limits.processors * quarters / 4;
  };
  if ((is_apart || block_bits >= kFewestSmallChunkBits) && fits(kSmallChunk, kSmallChunkQuarters))
    return kSmallChunk;
  if ((is_apart || block_bits >= kFewestMediumChunkBits) && fits(kMediumChunk, medium_quarters))
    return kMediumChunk;
  return kChunkSubsequences;
}

/// Distance between the subsequences with guesses in a smaller chunk.
constexpr std::uint32_t choose_stride(std::uint32_t chunk_subsequences, std::uint32_t period) {
  std::uint32_t stride = 1;
  while ((kWarmSubsequences + chunk_subsequences) / stride * period > kMostGuesses) stride *= 2;
  return stride;
}

/// The most subsequences that are walked one after the other by long walks.
constexpr std::uint32_t choose_late_long_walks(const SubsequencePlan& plan,
                                               bool every_bit_is_left) {
  if (plan.every_bit) return kMostLastLateWalks + kMostLastLateWalksOfChunk * plan.chunks;
  return every_bit_is_left ? kMostLateLongWalks + plan.chunks : kMostLastLateWalks + plan.chunks;
}

constexpr SubsequencePlan plan_subsequences(const DeviceLimits& limits, const ScanNeeds& scan) {
  const std::size_t most = limits.shared_of_cta;
  SubsequencePlan plan{};
  plan.fits = subsequences_fit(most, scan.pairs, scan.period);
  if (!plan.fits) return plan;
  const std::uint64_t block_bits =
      scan.blocks > 0 ? std::uint64_t{scan.bytes} * 8 / scan.blocks : kLongWalkBlockBits;
  const auto are_intervals_of = [&](std::uint32_t subsequences) {
    return scan.intervals > 0 && scan.bytes / scan.intervals <= subsequences * kSubsequenceBytes;
  };
  const bool follows = are_intervals_of(kFollowedSubsequences);
  const bool repeats = block_bits < kFewestMediumChunkBits;
  const bool is_apart = follows || (repeats && are_intervals_of(kShortIntervals));
  const auto is_sparse = [&](std::uint32_t most_bits) {
    return scan.period <= kUsualGuesses && scan.blocks > 0 && block_bits <= most_bits;
  };
  plan.chunk_subsequences =
      is_sparse(kUsualBlockBits) && !scan.large_chunks
          ? choose_chunk(limits, scan.subsequences, block_bits, is_apart,
                         scan.is_followed ? kFollowedMediumQuarters : kMediumChunkQuarters)
          : kChunkSubsequences;
  plan.chunks = ceil_div(scan.subsequences, plan.chunk_subsequences);
  const std::uint32_t room = sync_room(plan.chunk_subsequences);
  const bool is_large = room == kLargeRoom;
  const bool is_usual = is_large && is_sparse(kUsualBlockBits) && plan.chunks > kRoomyChunks;
  plan.guess_stride = follows    ? 0
                      : is_large ? kGuessStride
                                 : choose_stride(plan.chunk_subsequences, scan.period);
  if (scan.few_guesses) plan.guess_stride *= kFewerGuesses;
  // Long walks are for chunks that fill their room. A scan in smaller ones that needs them is given
  // up, and walked again in the largest chunks by long walks alone.
  const bool is_full = kWarmSubsequences + plan.chunk_subsequences == room;
  const bool is_dense =
      !follows && block_bits > (scan.standard_codes ? kLongWalkStandardBits : kLongWalkBlockBits);
  const bool long_walks = is_full && (is_dense || scan.far_walks != FarWalks::if_dense);
  // The memory of so few ends has room for all states of long walks, too.
  static_assert(choose_long_slots(kUsualEnds, kLargeRoom) == kMostLongSlots);
  plan.most_ends =
      choose_ends(most, scan.pairs, is_usual || long_walks ? kUsualEnds : kMostEnds, room);
  plan.long_slots = is_full ? choose_long_slots(plan.most_ends, room) : 0;
  plan.far_only = plan.long_slots != 0 && long_walks;
  const bool every_bit_fits =
      has_seed_room(choose_ends(most, scan.pairs, kUsualEnds, kLargeRoom), kLargeRoom);
  plan.every_bit = plan.far_only && scan.far_walks == FarWalks::from_every_bit && every_bit_fits;
  plan.most_late_walks = kMostLateWalks + kMostLateWalksOfChunks * plan.chunks;
  plan.most_late_long_walks = choose_late_long_walks(plan, every_bit_fits && !scan.more_late_walks);
  plan.assumes = plan.chunks >= kFewestAssumingChunks;
  plan.collects = !is_large || (!plan.far_only && !scan.large_chunks && !scan.two_kernels &&
                                is_sparse(kCollectedBlockBits));
  plan.offers_early = repeats && is_large && !follows && !scan.is_followed;
  plan.sync_bytes = sync_shared_bytes(scan.pairs, plan.most_ends, room);
  plan.decode_bytes = decode_shared_bytes(scan.pairs);
  return plan;
}

}  // namespace zerorun
