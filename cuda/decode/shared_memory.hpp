// How much shared memory the kernels that walk over bits ask for, and how a scan is decoded on a
// device that allows a CTA less: 99 KiB where compute capability is 8.6, 8.9 or 12.x, 163 KiB with
// 8.0, 227 KiB with 9.0. Host code, so that a test can ask for any device.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/arith/integer.hpp"
#include "cuda/decode/mark_states.hpp"
#include "cuda/decode/scan_memory.hpp"
#include "cuda/decode/subsequence_ends.hpp"

namespace zerorun {

/// Words of SharedTables for `pairs` pairs of code tables with 2^index_bits entries each.
constexpr std::uint32_t shared_table_words(std::uint32_t pairs, int index_bits) {
  constexpr std::uint32_t kBlockWords = 4;
  return (2 * pairs << index_bits) + kMaxBlocksPerMcu * kBlockWords + pairs * kLastCodes / 2;
}

/// Subsequences that a CTA of sync_subsequences() has room for, those before its chunk included:
/// medium or large.
inline constexpr std::uint32_t kMediumRoom = kWarmSubsequences + kMediumChunk;
inline constexpr std::uint32_t kLargeRoom = kWarmSubsequences + kChunkSubsequences;
constexpr std::uint32_t sync_room(std::uint32_t chunk_subsequences) {
  return chunk_subsequences <= kMediumChunk ? kMediumRoom : kLargeRoom;
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
/// photo at q90, one at a time, takes 2 % less so (H200). Multiples of 128 bytes give as much, but
/// 64 KiB of shared memory would have room for an end less.
inline constexpr std::uint32_t kSyncCopyUnit = 16;

/// Words that a CTA has without its tables: for itself, and for each end that is kept of its
/// subsequences.
ZR_HD constexpr std::uint32_t sync_end_words(std::uint32_t room) { return room * 5 / 2; }
ZR_HD constexpr std::uint32_t sync_words(std::uint32_t ends, std::uint32_t room) {
  return 68 + room * 221 / 16 + ends * sync_end_words(room);
}
// The tables behind it are copied by vectors.
static_assert(sync_words(1, kLargeRoom) % kVectorWords == 0 &&
              sync_words(1, kMediumRoom) % kVectorWords == 0 &&
              sync_end_words(kLargeRoom) % kVectorWords == 0 &&
              sync_end_words(kMediumRoom) % kVectorWords == 0);
constexpr std::size_t sync_shared_bytes(std::uint32_t pairs, std::uint32_t ends,
                                        std::uint32_t room) {
  return sizeof(std::uint32_t) * (sync_words(ends, room) + shared_table_words(pairs, kSkipBits));
}

/// States that the exhaustive strategy keeps at each mark, in the memory of all ends but one; 0 if
/// there is too little for it to be of use. A mark has three bytes for each state, and two; and
/// each state of one mark has a byte more.
constexpr std::uint32_t choose_mark_slots(std::uint32_t ends, std::uint32_t room) {
  const std::uint32_t marks = room / kMarkSubsequences;
  const std::uint32_t bytes = ends == 0 ? 0 : (ends - 1) * sync_end_words(room) * 4;
  for (std::uint32_t slots = kMarkSlots; slots >= kMarkSlots / 4; slots /= 2)
    if (marks * (3 * slots + 2) + slots <= bytes) return slots;
  return 0;
}

/// Whether the memory of the ends has room for the lists of walks from every bit.
constexpr bool has_seed_room(std::uint32_t ends, std::uint32_t room) {
  return ends * sync_end_words(room) * 4 >= DistinctStates::bytes();
}

inline constexpr std::uint32_t kChunkWords = chunk_words(kChunkSubsequences);
constexpr std::size_t decode_shared_bytes(std::uint32_t pairs) {
  return sizeof(std::uint32_t) * (kChunkWords + shared_table_words(pairs, kSymbolIndexBits));
}

/// What decode_subsequences() has beside the shared memory that it asks for.
inline constexpr std::size_t kDecodeStaticBytes = 16;

/// Ends to keep of each subsequence: those wanted, or as many as there is memory for. States that
/// find no room are walked one after the other, so fewer ends change the speed alone.
constexpr std::uint32_t choose_ends(std::size_t limit, std::uint32_t pairs, std::uint32_t wanted,
                                    std::uint32_t room) {
  while (wanted > 0 && sync_shared_bytes(pairs, wanted, room) > limit) --wanted;
  return wanted;
}

/// Whether the map strategy can decode a scan: each guess (one for each block of the period) needs
/// an end of its own.
constexpr bool map_fits(std::size_t limit, std::uint32_t pairs, std::uint32_t period) {
  return choose_ends(limit, pairs, period, kLargeRoom) == period &&
         decode_shared_bytes(pairs) + kDecodeStaticBytes <= limit;
}

}  // namespace zerorun
