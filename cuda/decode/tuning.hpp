// Sizes that the GPU decoder may choose freely: they change its speed, never its samples. Each has
// the measurement that chose it, where one was made; on an H200 where no other chip is named. A
// chip that nobody measured gets the same sizes; how much shared memory a CTA asks for
// (scan_plan.hpp), and for how many CTAs of a processor the compiler leaves registers
// (bounded_ctas()), follow from its limits.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

namespace zerorun {

// unstuff_scan()

/// Bytes of a tile, which one CTA takes; tiles are aligned in memory.
inline constexpr std::uint32_t kUnstuffTileBytes = 4096;

inline constexpr int kUnstuffThreads = 256;

/// CTAs of unstuff_scan() that read pinned memory, each a tile ahead. More of them ask for more
/// bytes at once, which then come out of order; fewer do not fill the bus. 3840x2160 at q90, one at
/// a time: 142 us with 48, 140 with 64, 141 with 96, and 150 with one for each tile.
inline constexpr std::uint32_t kBusCtas = 64;
/// Scans of fewer bytes are uploaded first: with 484 KB (1920x1080) following saves 3 us of 84,
/// less than two runs differ; with 1.9 MB it saves 19 of 149.
inline constexpr std::uint32_t kFewestFollowedBytes = 1u << 19;
/// Scans with restart markers and more bytes, too: all tiles before a CTA's own tell where its
/// intervals begin, so one that does not run from the start reads the states of all these, by 32 in
/// 0.7 us. With 7.5 MB (7680x4320 at q90) following saves 45 us of 380 all the same (H200); more
/// bytes were not measured.
inline constexpr std::uint32_t kMostFollowedRestartBytes = 1u << 23;

// The walks: sync_subsequences(), decode_subsequences()

/// Walks over short subsequences meet the right walk less often before the next one begins; long
/// ones give work to fewer threads and keep each busy longer. With 544 bits instead of 288, in a
/// 1920x1080 frame at q90, decode_subsequences() takes 28 us instead of 19 and sync_subsequences()
/// 52 instead of 48 (H200); with 224, in a 3840x2160 frame, sync_subsequences() takes 61 instead of
/// 54. The number of words is odd, so that threads which are equally far in neighbouring
/// subsequences use different banks of shared memory.
inline constexpr std::uint32_t kSubsequenceBits = 288;
/// Bits that index the skip tables: at q90 one look-up passes 1.7 symbols, and 0.4 % of the
/// codewords are longer. With 12 bits it is 1.9 and 0.2 %, but then shared memory has room for
/// fewer CTAs: eight frames of 3840x2160 at once take 71 us each instead of 66 (H200).
inline constexpr int kSkipBits = 11;
/// Bits that index the symbol tables: in a 3840x2160 photo at q90 one look-up tells 1.6 symbols.
inline constexpr int kSymbolIndexBits = 11;
/// AC codewords that are longer than the index stand in shared memory too, for so many of the last
/// values of 16 bits: all of T.81's tables do. A photo at q90 has one in 0.7 % of the steps of a
/// walk, and so a warp one in every fifth.
inline constexpr std::uint32_t kLastCodes = 192;

/// The most subsequences of a chunk, which one CTA synchronises or decodes: with 160, 192 and 224,
/// sync_subsequences() takes 57, 59 and 55 us for a 3840x2160 frame at q90 (H200).
inline constexpr std::uint32_t kChunkSubsequences = 224;
/// Chunks of a sparse scan that is so small that each has a processor for itself: then more walks
/// at once save rounds. Photos at q90, one at a time and one of eight, in us on an H100:
/// 640x480 91.8 and 13.4 with chunks of 224, 70.2 and 12.2 with 160, 71.9 and 12.6 with 96, 60.6
/// and 11.4 with 32; 1920x1080 99.5 and 20.4, 85.7 and 20.1, 84.8 and 22.1, 101.0 and 39.2, where
/// those of 32 are more than four for a processor.
inline constexpr std::uint32_t kMediumChunk = 160, kSmallChunk = 32;
/// At most one chunk for so many quarters of the processors. With as many small chunks as
/// processors, lines at q50 (144 KB) take 80 and 21.8 us, with half of them 95 and 16.4; with as
/// many medium ones, text at q50 (633 KB) 99 and 25.2, in the largest 111 and 23.0 (H100).
inline constexpr std::uint32_t kMediumChunkQuarters = 3, kSmallChunkQuarters = 2;
/// In a scan that follows the bus the last chunk counts, which begins when the others are mostly
/// done: 3840x2160 takes 136 us with medium chunks, three to a processor, and 140 with the largest.
inline constexpr std::uint32_t kFollowedMediumQuarters = 12;
/// With chunks of 32 and of 160 subsequences, one colour with 2 bits a block takes 378 and 310 us,
/// and 279 with 224: its walks follow each other from chunk to chunk.
inline constexpr std::uint32_t kFewestMediumChunkBits = 4, kFewestSmallChunkBits = 6;
/// Scans of fewer bits a block have smaller chunks nevertheless if their intervals have no more
/// subsequences than these on average. 1920x1080 with optimal tables, a marker after each row of
/// MCUs, one at a time and one of eight, in us (H200): gradients at q50, 8 subsequences an
/// interval, 92 and 14.7, 123 and 18.9 in the largest chunks; one colour at q90, 5 of them, 78
/// and 13.4, 129 and 19.3; a white page with a strip of a photo at q75 107 and 16.5, 124 and 19.7.
/// If they were followed without guesses, gradients would take 90 and 13.7, but the page 390 and
/// 54: some of its intervals are long.
inline constexpr std::uint32_t kShortIntervals = 16;

/// Shared memory and registers let a processor hold three such CTAs. Frames of 3840x2160 at q90,
/// eight at once, on an H200: 66 us each; 74 with two CTAs of 512 threads, which are no faster with
/// a single frame. (On an H100, 75 us with these and 77 with four CTAs of 288 threads, chunks of
/// 160 subsequences and 10 bits for the skip tables.)
inline constexpr int kSyncThreads = 384;
inline constexpr int kSyncCtas = 3;
/// Subsequences before the chunk that are walked too (9 Kibit), so that the start of its first
/// subsequence is mostly found without waiting for the chunk before.
inline constexpr std::uint32_t kWarmSubsequences = 32;
/// A scan is given up if more subsequences have to be walked one after the other, mostly up to 3 us
/// each.
/// From guesses: so many, and some for each chunk. Screens at q100 need 265 in 134 chunks, text 390
/// in 227, in 4:4:4 476 in 189.
inline constexpr std::uint32_t kMostLateWalks = 128, kMostLateWalksOfChunks = 4;
/// And so many of one chunk. With 64, text in 4:4:4 at q97, one of eight, takes 262 us instead of
/// 104 (H200).
inline constexpr std::uint32_t kMostLateWalksOfChunk = 128;
/// In long walks from guesses, which take up to 14 us: so many, and one for each chunk. Of noise at
/// q100 with optimal tables, eight frames in each sampling, those that need most need 272 in 406
/// chunks and 380 in 544. A pattern that needs 316 in 159 takes 1,206 us so, and 526 from every bit
/// (H200).
inline constexpr std::uint32_t kMostLateLongWalks = 64;
/// In walks from every bit: so many, and some for each chunk; in long walks from guesses, if those
/// from every bit are no way out: so many, and one for each chunk. After these only the careful
/// decoder is left, which takes 290 ms for noise of 1920x1080 at q100 with optimal tables (H200).
inline constexpr std::uint32_t kMostLastLateWalks = 256, kMostLastLateWalksOfChunk = 16;
/// With fewer chunks, each waits for the one before instead of assuming where it begins. Of
/// gradients at q50 with optimal tables, three chunks, some were assumed wrongly: 1,009 us instead
/// of 381, one at a time. One colour at q90, two chunks, takes 138 to 140 instead of 134 (H200).
/// (The number was chosen by reasoning.)
inline constexpr std::uint32_t kFewestAssumingChunks = 9;

/// Ends kept of a subsequence. At q90 4:2:0 six guesses end in 3.5 states on average, and more ends
/// come from the subsequences before. walk_late() follows the ends that find no room, one after the
/// other.
inline constexpr std::uint32_t kMostEnds = 16;
/// Ends that suffice with at most kUsualGuesses guesses and blocks of at most kUsualBlockBits bits
/// on average. A third CTA then fits into a processor. Long walks need no more memory, either.
inline constexpr std::uint32_t kUsualEnds = 11, kUsualGuesses = 6, kUsualBlockBits = 112;
// Long walks, before chunks told their ends early. Frames of 1920x1080 without restart markers at
// q97 with optimal tables, one at a time and one of eight, in us on an H200: film grain 289 and
// 121, sensor noise 297 and 137, a page of text 442 and 223; a photo 265 and 86.

/// A chunk is synchronised by long walks if more of its subsequences than these have more ends than
/// are kept. An end that found no room is mostly not the right one, and if it is, one thread soon
/// walks past it; but the chunks behind mostly wait meanwhile. Photo of 1920x1080 at q90, four
/// chunks of 74 with one such subsequence each: 179 us with 0, 114 with 8 (H200). A window with
/// text at q97, by a simulation: 12 late walks with 1 and 484 with 8, which take 0.7 us each.
inline constexpr int kMostFullSubsequences = 1;
/// Scans with more bits a block on average are synchronised by long walks from the start: film
/// grain with 240 takes 289 us instead of 335. (A page of text with 258 would take 234 instead of
/// 281 by the ends of guesses, but black lines with 262 would take 33 ms.)
inline constexpr std::uint32_t kLongWalkBlockBits = 224;
/// The same for the standard tables, with which walks meet sooner. By the ends of guesses and by
/// long walks, one at a time and one of eight, us on an H100: a photo with 271 bits 226 and 93, 333
/// and 154; sensor noise with 272 214 and 87, 296 and 131; text with 308 585 and 244, 616 and 340.
/// Text with 395 would be given up after 0.7 ms.
inline constexpr std::uint32_t kLongWalkStandardBits = 340;
/// Long walks look for each other at every so many subsequences: with 8, the page of text takes 525
/// us instead of 509.
inline constexpr std::uint32_t kMarkSubsequences = 4;
/// States kept at a mark. Noise at q100 with optimal tables needs 83.
inline constexpr std::uint32_t kMostLongSlots = 128;
/// Distance between the subsequences where long walks begin, before the chunk and in it. Page of
/// text, one at a time and one of eight: 442 and 223 us with 2 and 16, 476 and 246 with 2 and 32,
/// 522 and 278 with 2 and 64; 510 and 276 with 1 and 16, where 2 and 16 took 509 and 272.
inline constexpr std::uint32_t kEarlyGuessStride = 2, kLateGuessStride = 16;
/// Subsequences in which a block begins, wherever they are: the longest has 27 bits of a DC and 26
/// for each AC coefficient.
inline constexpr std::uint32_t kSeedSubsequences = 6;
static_assert(kSeedSubsequences * kSubsequenceBits >= 16 + 11 + 63 * (16 + 10));
/// Places of a chunk from which all walks that are possible go on, so that those from the first
/// need not pass the whole chunk; how many subsequences before each of the others walks from every
/// bit begin, and in how many of these. Where no block begins in them, the walks from the place
/// before go on. Patterns that repeat in 1920x1080, one at a time and one of eight, in us, with two
/// places and with four, and with four and three of twelve subsequences: checkers in grey 633 and
/// 261, 538 and 223, 575 and 240; dots in 4:2:0 561 and 317, 553 and 299, 622 and 325 (H200).
inline constexpr std::uint32_t kSeedPlaces = 4, kLateSeedDistance = 8, kLateSeedSubsequences = 2;
/// Subsequences of a segment; one thread follows the maps through a segment.
inline constexpr std::uint32_t kSegmentSubsequences = 8;

/// Intervals of fewer subsequences are followed from their beginning, without guesses. (With a
/// restart every four MCUs, seven subsequences, sync_subsequences() takes 86 us without guesses and
/// 58 with them.)
inline constexpr std::uint32_t kFollowedSubsequences = 4;
/// Distance between subsequences that are walked from guesses. A longer one needs fewer walks and
/// ends but more rounds: a photo of 3840x2160 at q90 6.7, 4.5 and 3.1 walks a subsequence in 4.7,
/// 7.3 and 10.8 rounds with 2, 4 and 8, in 190, 190 and 203 us (H200). Where there are many ends,
/// with 2 some are left out: 1920x1080 at q90, one at a time and one of eight, in us with 2 and 4
/// (H100): a screen 269 and 47, 159 and 29; thin lines with optimal tables 408 and 61, 230 and 37;
/// photos the same within 1 %. Film grain at q95, 204 bits a block: 191, 179 and 217 us (H200).
inline constexpr std::uint32_t kGuessStride = 4;
/// Where there is no room for the ends of so many guesses, one in so many is made.
inline constexpr std::uint32_t kFewerGuesses = 4;
/// In smaller chunks, where threads are left, as many guesses as this allows: one for a thread and
/// one more for half of them.
inline constexpr std::uint32_t kMostGuesses = 576;
/// From this round on, if no more walks than these are left, and one of them passed as many blocks
/// in its subsequence, its end is offered to all others. By a simulation, steps one after the
/// other that a chunk of one colour at q75 with optimal tables needs without it and with it: 32,256
/// and 2,592 of 0.1 us; of gradients at q50 16,870 and 4,348. From round 8 on or with blocks of 6
/// bits, a screen at q50 would need 3,192 instead of 990. A late walk that passed as many blocks
/// and ends as it began is followed by all threads (repeat_walk()).
inline constexpr std::uint32_t kOfferRounds = 16, kOfferWalks = 8,
                               kOfferBlocks = kSubsequenceBits * 10 / 36;
/// In the largest chunks of scans of fewer than kFewestMediumChunkBits bits a block, so many ends
/// are offered from an earlier round on, and more walks may be left. By the simulation the longest
/// chunk of gradients at q50 then needs 3,201 steps instead of 5,527, of one colour at q75 1,160
/// instead of 2,755; of 20 white pages and gradients with some text, lines or photos 87 % in the
/// geometric mean and 129 % at most. With offers from round 2 on gradients need 2,425, but a white
/// page with a photo at its edge 5,109 instead of 1,584. As a parameter of all kernels this made
/// thin lines 4 % slower.
inline constexpr std::uint32_t kEarlyOfferRound = 5, kEarlyOffers = 2, kEarlyOfferWalks = 32;
/// Room that is left for ends which were not offered.
inline constexpr std::uint32_t kEndsNotOffered = 4;
/// A scan is crowded if one of so many of its largest chunks, or of its medium ones, had no room
/// for the ends of its guesses and was synchronised by long walks: one such chunk takes as long as
/// a whole scan of lines. With 32 for the largest, too, a screen at q100, one of eight, takes 147
/// us instead of 123 (H200).
inline constexpr std::uint32_t kCrowdedChunks = 8, kCrowdedMediumChunks = 32;
/// A scan whose chunks collect their pairs is late if there was a late walk for every so many of
/// them. (Chosen by reasoning.)
inline constexpr std::uint32_t kLateWalkChunks = 2;
/// What was learned from a sound scan counts for so many like it:
/// - Crowded, and its chunks collect: fewer guesses. Thin lines with standard tables at q90, 97 and
///   100 take 131, 189 and 222 us, one at a time, and took 189, 277 and 306; a screen at q97 with
///   optimal tables 175 and 277 (H200).
/// - Crowded all the same, or late: two kernels, in the largest chunks. A screen at q97 with
///   optimal tables, one of eight, took 57 to 61 us by one kernel and 50 to 52 by two (H200).
/// - More than kCollectedBlockBits bits a block, decoded by two kernels, and crowded or with a late
///   walk for every chunk: long walks. Text at q97 takes 384 and 159 us, one at a time and one of
///   eight, and 502 and 240 from fewer guesses; a screen at q100 399 and 106, and 497 and 121
///   (H200).
/// - Walked the usual way in vain: it was decoded by walks from every bit, which nearly always are
///   right, and the next one is tried by long walks from guesses, which may take less time: a
///   dithered picture takes 336 us by them, and 632 from every bit. If these are in vain, or there
///   were too many late walks: walks from every bit at once. 438 pictures, each once by one
///   decoder, take 553 to 574 us so, and 634 to 662 if the same scan is tried by long walks from
///   guesses first (H200).
/// - Long walks from guesses needed more late walks than they may have while other ways are left:
///   they have them from the start.
/// - A chunk told a wrong end before all were walked in one of these ways: the chunks wait for each
///   other. The first time the usual way does that it may be chance, and is all that is learned.
inline constexpr std::uint32_t kScansAlike = 63;
/// Of each kind so many are remembered. (The number was chosen by reasoning.)
inline constexpr std::size_t kOddScans = 8;
/// Up to this many of the largest chunks have a processor each, with room for all ends, unless they
/// are synchronised by long walks alone.
inline constexpr std::uint32_t kRoomyChunks = 32;

/// Scans with at most so many bits a block on average are decoded by sync_subsequences(), without a
/// second kernel: a photo of 3840x2160 at q90 takes 144 us one at a time and 60 as one of eight,
/// and 155 and 64 by two kernels (H200). A CTA then waits until all chunks before have counted
/// their pairs, which takes long where walks meet late. 1920x1080, one of eight, by one kernel and
/// by two: grain with 114 bits 25.0 and 23.2, a photo with 312 bits 141 and 104, text with 299 bits
/// 422 and 290.
inline constexpr std::uint32_t kCollectedBlockBits = 112;

/// CTAs of decode_subsequences() for which shared memory has room.
inline constexpr int kDecodeCtas = 5;

// transform_blocks()

/// Blocks of a CTA, one a thread.
inline constexpr std::uint32_t kTransformBlocks = 64;
/// CTAs that a processor holds, by registers. 3840x2160 at q90 on an H200: 24.6 us with 10, 22.8
/// with 12.
inline constexpr int kTransformCtas = 12;
/// Pairs that a thread takes at a time. The same frame: 28.7 us with 4, 25.9 with 8, 27.9 with 16;
/// then it still asked each time where they belong. (It took 40.4 when the zeros were decoded as
/// runs, 64 coefficients a thread: each coefficient waited for the one before.)
inline constexpr std::uint32_t kPairsPerThread = 8;

}  // namespace zerorun
