// Sizes that the GPU decoder may choose freely: they change its speed, never its samples. Each has
// the measurement that chose it, where one was made: on an H200, in photos at q90, where nothing
// else is named. A chip that was not measured gets the same sizes.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace zerorun {

// unstuff_scan()

/// CTAs that read pinned memory, each a tile ahead. More ask for bytes out of order, fewer do not
/// fill the bus: 3840x2160 takes 142 us with 48, 140 with 64, 141 with 96, 150 with one a tile.
inline constexpr std::uint32_t kBusCtas = 64;
/// Scans of fewer bytes are uploaded first: following saves 3 us of 84 with 484 KB, 19 of 149 with
/// 1.9 MB. So are scans with restart markers and more bytes, where a CTA reads the states of all
/// tiles before it, 32 in 0.7 us: with 7.5 MB following saves 45 us of 380.
inline constexpr std::uint32_t kFewestFollowedBytes = 1u << 19;
inline constexpr std::uint32_t kMostFollowedRestartBytes = 1u << 23;

// sync_subsequences(), decode_subsequences()

/// Walks over short subsequences meet the right walk less often; long ones give work to fewer
/// threads. With 544 bits, in 1920x1080, decode_subsequences() takes 28 us instead of 19; with 224,
/// in 3840x2160, sync_subsequences() 61 instead of 54. The number of words is odd, so that threads
/// at the same place of neighbouring subsequences use different banks of shared memory.
inline constexpr std::uint32_t kSubsequenceBits = 288;
/// Bits that index the skip tables, of which one look-up passes 1.7 symbols, and the symbol tables,
/// 1.6. With 12 and 1.9 fewer CTAs fit: 3840x2160, one of eight, takes 71 us instead of 66.
inline constexpr int kSkipBits = 11, kSymbolIndexBits = 11;
/// The most subsequences of a chunk, which one CTA synchronises or decodes: with 160, 192 and 224,
/// sync_subsequences() takes 57, 59 and 55 us for 3840x2160.
inline constexpr std::uint32_t kChunkSubsequences = 224;
/// Chunks of a sparse scan that is so small that at most so many quarters of the processors get
/// one. Without them photos at q75 take 10 % longer, one at a time. Of a scan that follows the bus
/// the last chunk counts, which begins when the others are mostly done: then three a processor.
inline constexpr std::uint32_t kMediumChunk = 160;
inline constexpr std::uint32_t kMediumChunkQuarters = 3, kFollowedMediumQuarters = 12;
/// A processor holds three such CTAs. 3840x2160, one of eight, takes 66 us; 74 with two of 512
/// threads.
inline constexpr int kSyncThreads = 384, kSyncCtas = 3;
/// Subsequences before the chunk that are walked too, so that the start of its first one is mostly
/// found without waiting for the chunk before.
inline constexpr std::uint32_t kWarmSubsequences = 32;
/// Distance between subsequences that are walked from guesses, in large and in medium chunks:
/// 3840x2160 takes 190, 190 and 203 us with 2, 4 and 8.
inline constexpr std::uint32_t kGuessStride = 4, kMediumGuessStride = 2;
/// End states kept of a subsequence. At 4:2:0 six guesses end in 3.5 states on average, and more
/// come from the subsequences before. Those that find no room are walked serially.
inline constexpr std::uint32_t kMostEnds = 16;
/// End states that suffice for sparse scans, whose blocks have at most so many bits on average; a
/// third CTA then fits into a processor. sync_subsequences() decodes these scans itself: 3840x2160
/// takes 7 % less so, and can follow the bus. Denser scans need a second kernel, since a CTA waits
/// for all chunks before it: with 312 bits 104 us, one of eight, and 141 by one kernel.
inline constexpr std::uint32_t kSparseEnds = 11, kSparseBits = 112;
/// The map strategy fails with more rounds of walks. Photos need 13, gradients 56, text at q97 75;
/// for patterns and one colour in grey, 112 to 224, the exhaustive strategy takes less time.
inline constexpr std::uint32_t kMostRounds = 80;
/// From this round on, if few walks are left and one of them passed many blocks in its subsequence,
/// its end state is tried in every subsequence. Without it one colour takes 1.8 ms and not 0.16,
/// more than nvJPEG (H100).
inline constexpr std::uint32_t kOfferRounds = 16;
/// The map strategy fails if more subsequences have to be walked serially, by one thread and up to
/// 3.5 us each: so many, and some for each chunk. Screens at q100 need 265 in 134 chunks, text 390
/// in 227. With a quarter as many, screens and text at q97 take twice as long (H100).
inline constexpr std::uint32_t kSerialWalks = 64, kSerialWalksOfChunk = 2;

/// Scans with more bits a block on average are decoded by the exhaustive strategy from the start;
/// with the standard tables walks meet sooner. Noise with optimal tables, 341 bits, takes 0.73 ms,
/// and 5 ms if the map strategy is tried first; sensor noise with 272 bits and standard tables 214
/// us by maps and 296 without (H100).
inline constexpr std::uint32_t kDenseBits = 224, kDenseStandardBits = 340;
/// States kept at a mark. Noise at q100 with optimal tables needs 83.
inline constexpr std::uint32_t kMarkSlots = 128;
/// Places of a chunk from which all possible walks go on, so that those from the first need not
/// pass the whole chunk. Checkers in grey take 633 us with two places and 538 with four.
inline constexpr std::uint32_t kSeedPlaces = 4;
/// The exhaustive strategy may walk so many times as many subsequences serially; after more the CPU
/// decodes the scan.
inline constexpr std::uint32_t kLastSerialWalks = 8;
/// Scans that it decodes at once after the map strategy failed. (Chosen by reasoning.)
inline constexpr std::uint32_t kStrategyTrust = 7;

// transform_blocks()

/// CTAs that a processor holds, by registers: 3840x2160 takes 24.6 us with 10, 22.8 with 12.
inline constexpr int kTransformCtas = 12;

}  // namespace zerorun
