// The second half of the encoder, for kernels that assemble chunks: the tiles of a chunk -> stuffed
// bytes at their place in the stream, by a CTA.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "cuda/base/look_back.cuh"
#include "cuda/base/shared_access.cuh"
#include "cuda/base/warp.cuh"
#include "cuda/encode/frame_kernels.hpp"

namespace zerorun::cuda_encode::assembly {

// The tiles of a chunk -> its bits as words in shared memory, by a CTA.

inline constexpr int kThreads = kAssembleThreads;
inline constexpr int kWarps = kThreads / 32;
inline constexpr int kWordsPerThread = kAssembleWordsPerThread;
/// Bytes before stuffing that a CTA handles in one round. At q90 a chunk has some 5000.
inline constexpr std::int32_t kRoundWords = kThreads * kWordsPerThread;
inline constexpr std::uint32_t kRoundBytes = kRoundWords * 4;
/// With the tile before the chunk, which may end in the chunk's first byte.
inline constexpr int kMaxTiles = kChunkTiles + 1;
static_assert(kMaxTiles <= 32);

/// A chunk's tiles as one array of bits. Positions count from the byte that holds the chunk's first
/// bit; the tile before the chunk starts below 0.
struct Chunk {
  const std::uint32_t* words;  ///< of the first tile; those of the others lie behind it
  std::int32_t start[kMaxTiles + 1];
  int tiles;
  std::uint32_t bytes;  ///< before stuffing
  std::uint32_t rounds;
  std::uint32_t interval;
  bool ends_interval, ends_scan;
  std::uint32_t header;  ///< bytes before the scan: here they take no register meanwhile
};

struct Shared {
  alignas(16) std::uint32_t words[kRoundWords];
  std::uint32_t stage[2 * kRoundWords + 2];  // bytes, a marker, and a word that a load may reach
  Chunk chunk;
  std::uint32_t warp[kWarps];
  std::uint64_t before;
};

/// Exclusive sum over the threads of the CTA; `total` becomes the sum of all. Synchronises once.
__device__ inline std::uint32_t cta_exclusive_sum(Shared& s, std::uint32_t value,
                                                  std::uint32_t& total) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const std::uint32_t inclusive = warp_inclusive_sum(value);
  if (lane == 31) s.warp[warp] = inclusive;
  __syncthreads();
  const std::uint32_t others = lane < kWarps ? s.warp[lane] : 0;
  total = warp_add(others);
  return inclusive - value + warp_add(lane < warp ? others : 0u);
}

/// ORs the words of a tile, which stand from words[tile] on and whose bits go from `start` to
/// `end`, into those of a round from word `base` on, by a warp. At q90 a tile has some 75 words,
/// and the warp waits for memory once.
__device__ inline void add_tile(const std::uint32_t* words_of_chunk, std::int32_t tile,
                                std::int32_t start, std::int32_t end, std::int32_t base,
                                SharedAddress round) {
  constexpr int kAtOnce = 3;
  const std::int32_t words = (end - start + 31) >> 5;  // they end in zeros
  const std::int32_t moved = -start >> 5;              // from a word's number to that in the tile
  const std::int32_t first = max(start >> 5, base) + static_cast<std::int32_t>(threadIdx.x % 32);
  const std::int32_t stop = min((end + 31) >> 5, base + kRoundWords) + moved;
  // Behind `stop` zeros are added, even behind Shared::words: no branch is worth it.
  const auto high_words = static_cast<std::uint32_t>(min(words, stop));
  const auto low_words = static_cast<std::uint32_t>(min(words, stop + 1));
  SharedAddress to = round + static_cast<std::uint32_t>(first - base) * 4;
#pragma unroll 1
  for (std::int32_t word = first + moved; word < stop; word += 32 * kAtOnce) {
    const std::uint32_t* const from = words_of_chunk + (tile + word);
    __builtin_assume(__isGlobal(from));
    std::uint32_t high[kAtOnce], low[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const auto number = static_cast<std::uint32_t>(word + 32 * i);
      high[i] = number < high_words ? from[32 * i] : 0;
      low[i] = number + 1 < low_words ? from[32 * i + 1] : 0;
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i)
      or_word(to + 32 * 4 * i, __funnelshift_l(low[i], high[i], -start));
    to += 32 * 4 * kAtOnce;
  }
}
static_assert(offsetof(Shared, stage) == sizeof Shared::words);

/// Puts the bits of a round into s.words, a warp for each tile, and ones behind the end of an
/// interval up to the end of its byte (T.81 F.1.2.3). Clears s.stage. `place(i)`: the first word of
/// tile `i`, counted from that of the chunk's first one. `carry`: bits of the first word that no
/// tile of the chunk has.
template <typename Place>
__device__ void fill_round(Shared& s, std::uint32_t round, const Place& place,
                           std::uint32_t carry = 0) {
  const Chunk& c = s.chunk;
  const std::int32_t base = static_cast<std::int32_t>(round) * kRoundWords;  // in words
  const SharedAddress words = shared_address(s.words);
  auto* const all = reinterpret_cast<uint4*>(&s);  // the words and the stage behind them
#pragma unroll
  for (int i = 0; i < 3 * kWordsPerThread / 4; ++i) all[threadIdx.x + i * kThreads] = uint4{};
  if (threadIdx.x == 0) s.stage[2 * kRoundWords] = 0;
  __syncthreads();
  // Addresses by hand: behind each access that the compiler may not move it finds s anew.
  const std::uint32_t* const words_of_chunk = c.words;
  const std::int32_t tiles = c.tiles;
  const SharedAddress start = shared_address(c.start);
#pragma unroll 1
  for (auto i = static_cast<std::int32_t>(threadIdx.x / 32); i < tiles; i += kWarps) {
    const auto at = static_cast<std::uint32_t>(i);
    add_tile(words_of_chunk, place(i), static_cast<std::int32_t>(load_word(start, at)),
             static_cast<std::int32_t>(load_word<4>(start, at)), base, words);
  }
  const std::int32_t end = c.start[tiles], end_word = (end >> 5) - base;
  if (carry != 0 && threadIdx.x == 0) atomicOr(s.words, carry);
  if (threadIdx.x == 0 && c.ends_interval && end_word >= 0 && end_word < kRoundWords)
    atomicOr(s.words + end_word, (0x7Fu >> (end + 7) % 8) << (24 - end % 32 / 8 * 8));
  __syncthreads();
}

// Those words -> stuffed bytes at their place in the stream.

/// A thread's bytes of a round, the first one highest in word[0]. Bytes that do not exist are not
/// FF: the first of them has less than eight bits, the others are 0.
struct Piece {
  std::uint32_t word[kWordsPerThread];
  int bytes;  ///< that exist
};

__device__ inline Piece load_piece(const Shared& s, std::uint32_t round) {
  const std::uint32_t first = round * kRoundBytes + threadIdx.x * kWordsPerThread * 4;
  Piece p{};
  if (first >= s.chunk.bytes) return p;
  p.bytes = static_cast<int>(min(s.chunk.bytes - first, std::uint32_t{kWordsPerThread * 4}));
  const auto* const from = reinterpret_cast<const uint4*>(s.words + threadIdx.x * kWordsPerThread);
#pragma unroll
  for (int i = 0; i < kWordsPerThread / 4; ++i) {
    const uint4 four = from[i];
    p.word[4 * i] = four.x;
    p.word[4 * i + 1] = four.y;
    p.word[4 * i + 2] = four.z;
    p.word[4 * i + 3] = four.w;
  }
  return p;
}

/// The highest bit of each byte that is FF: adding 1 to its lower seven bits carries into it.
__device__ inline std::uint32_t ff_bits(std::uint32_t word) {
  return ((word & 0x7F7F7F7Fu) + 0x01010101u) & word & 0x80808080u;
}

/// Bytes of a piece with those that are stuffed. Most chunks leave whole warps without any.
__device__ inline std::uint32_t stuffed_bytes(const Piece& p) {
  if (p.bytes == 0) return 0;
  auto count = static_cast<std::uint32_t>(p.bytes);
#pragma unroll
  for (const std::uint32_t word : p.word)
    count += static_cast<std::uint32_t>(__popc(ff_bits(word)));
  return count;
}

/// Bytes of the scan before the chunk; by one warp.
__device__ inline std::uint64_t look_back(const std::uint64_t* states, std::uint32_t chunk) {
  std::uint64_t own = 0;
  walk_back<4, std::int32_t>(states, chunk, [&](std::uint64_t state, bool counts) {
    if (counts) own += state & kTileSumMask;
    return false;
  });
  return warp_sum(own);
}

/// Publishes the size of the chunk and finds how many bytes stand before it: s.before after the
/// next barrier. By the last warp, whose threads mostly have no bytes to stuff.
/// `chunks`: the states of those of the frame.
__device__ inline void find_place(std::uint64_t* chunks, Shared& s, std::uint64_t size) {
  if (threadIdx.x / 32 != kWarps - 1) return;
  const std::uint32_t number = blockIdx.x;
  const bool leads = threadIdx.x % 32 == 0;
  if (leads) store_relaxed(chunks + number, (number == 0 ? kTileInclusive : kTileAggregate) | size);
  const std::uint64_t before = number == 0 ? 0 : look_back(chunks, number);
  if (!leads) return;
  if (number > 0) store_relaxed(chunks + number, kTileInclusive | (before + size));
  s.before = before;
}

/// Puts a thread's bytes into words of s.stage, the first byte lowest. The first and the last word
/// may have bytes of other threads too.
class ByteStage {
 public:
  __device__ ByteStage(SharedAddress stage, std::uint32_t at)
      : to_(stage + (at & ~3u)), shift_(at % 4 * 8) {}

  /// `first`: no word may be complete yet.
  __device__ void append_word(std::uint32_t word, bool first) {
    store(__funnelshift_l(before_, word, shift_), first);
    before_ = word;
  }
  /// One byte, or one and a zero: `bits` is 8 or 16.
  __device__ void append_byte(std::uint32_t byte, std::uint32_t bits, bool first) {
    const std::uint32_t word = __funnelshift_l(before_, byte, shift_);
    before_ = __funnelshift_r(before_, byte, bits);
    shift_ += bits;
    if (shift_ < 32) return;
    store(word, first);
    shift_ -= 32;
  }
  __device__ void finish() const {
    if (shift_ != 0) or_word(to_, __funnelshift_l(before_, 0, shift_));
  }

 private:
  __device__ void store(std::uint32_t word, bool first) {
    if (first)
      or_word(to_, word);
    else
      store_word(to_, word);
    to_ += 4;
  }

  SharedAddress to_;          ///< of the word that the next byte goes to
  std::uint32_t before_ = 0;  ///< the last four bytes
  std::uint32_t shift_;       ///< bits of that word which come before
};

/// Puts the thread's bytes, stuffed, into s.stage, which is clear.
__device__ inline void stage_piece(const Piece& p, SharedAddress stage, std::uint32_t at) {
  if (p.bytes == 0) return;
  ByteStage out(stage, at);
#pragma unroll
  for (int w = 0; w < kWordsPerThread; ++w) {
    std::uint32_t word = __byte_perm(p.word[w], 0, 0x0123);
    const std::uint32_t ff = ff_bits(word);
    if (4 * w + 4 <= p.bytes && ff == 0) {
      out.append_word(word, w == 0);
    } else if (4 * w + 4 <= p.bytes && (ff & (ff - 1)) == 0) {
      const std::uint32_t rest = word & ~(2 * ff - 1);  // the bytes behind FF
      out.append_word((word ^ rest) | rest << 8, w == 0);
      out.append_byte(rest >> 24, 8, w == 0);
    } else {
#pragma unroll 1
      for (int left = min(p.bytes - 4 * w, 4); left > 0; --left, word >>= 8) {
        const std::uint32_t byte = word & 0xFF;
        out.append_byte(byte, byte == 0xFF ? 16 : 8, w == 0);
      }
    }
  }
  out.finish();
}

/// Puts a marker behind `length` bytes in s.stage; by one thread.
__device__ inline void stage_marker(SharedAddress stage, std::uint32_t length, std::uint32_t code) {
  ByteStage out(stage, length);
  out.append_byte(0xFF, 8, true);
  out.append_byte(code, 8, true);
  out.finish();
}

/// Copies `length` bytes of s.stage to global memory, in units of 16 bytes as they lie there.
__device__ inline void store_round(const FrameOutput& output, const Shared& s, std::uint32_t length,
                                   std::uint64_t offset) {
  if (offset + length > output.capacity) return;
  const auto skew =
      static_cast<std::int32_t>((reinterpret_cast<std::uintptr_t>(output.out) + offset) % 16);
  std::uint8_t* const out = output.out + offset - skew;  // aligned to 16
  const std::int32_t end = skew + static_cast<std::int32_t>(length);
  const unsigned shift = static_cast<unsigned>(-skew & 3) * 8;            // of the stage's words
  const std::int32_t first_unit = skew > 0 ? 1 : 0, end_unit = end / 16;  // of the whole ones
#pragma unroll 1
  for (auto unit = first_unit + static_cast<std::int32_t>(threadIdx.x); unit < end_unit;
       unit += kThreads) {
    const std::uint32_t* const from = s.stage + (unit * 16 - skew) / 4;
    std::uint32_t word[5];
#pragma unroll
    for (int i = 0; i < 5; ++i) word[i] = from[i];
    reinterpret_cast<uint4*>(out)[unit] = make_uint4(
        __funnelshift_r(word[0], word[1], shift), __funnelshift_r(word[1], word[2], shift),
        __funnelshift_r(word[2], word[3], shift), __funnelshift_r(word[3], word[4], shift));
  }
  // The bytes before and behind, by the last warp, a lane each.
  if (threadIdx.x / 32 != kWarps - 1) return;
  const bool behind = threadIdx.x % 32 >= 16;
  const std::int32_t at =
      (behind ? end_unit * 16 : 0) + static_cast<std::int32_t>(threadIdx.x % 16);
  const bool has_byte = behind ? end_unit >= first_unit : first_unit > 0;
  if (has_byte && at >= skew && at < end)
    out[at] = reinterpret_cast<const std::uint8_t*>(s.stage)[at - skew];
}

}  // namespace zerorun::cuda_encode::assembly
