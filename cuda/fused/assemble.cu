// The bits of the tiles -> bytes, stuffed, with markers, at their places in the stream. A CTA takes
// a chunk of tiles; how many bytes stand before it is found by looking back over all chunks.
// SPDX-License-Identifier: MIT
#include "cuda/fused/assemble.hpp"

#include "codec/syntax/marker.hpp"
#include "cuda/check.hpp"
#include "cuda/entropy/look_back.cuh"
#include "cuda/launch.hpp"

namespace zerorun {
namespace fused {
namespace {

using cuda_entropy::kFullWarp;
using cuda_entropy::kTileAggregate;
using cuda_entropy::kTileInclusive;
using cuda_entropy::kTileSumMask;
using cuda_entropy::store_relaxed;
using cuda_entropy::walk_back;
using cuda_entropy::warp_inclusive_sum;
using cuda_entropy::warp_sum;

/// Small CTAs that need few registers: they mostly wait, for memory and for each other, and find
/// room beside those of code_tiles. With 128 threads a chunk at q90 often takes two rounds: 30.4 us
/// a 4K frame in four streams instead of 28.8 (H200).
constexpr int kThreads = 192;
constexpr int kCtas = 10;
constexpr int kWarps = kThreads / 32;
constexpr int kWordsPerThread = 8;
/// A chunk goes in rounds of so many bytes before stuffing: at q90 a chunk has some 4000.
constexpr std::int32_t kRoundWords = kThreads * kWordsPerThread;
constexpr std::uint32_t kRoundBytes = kRoundWords * 4;
/// The tile before a chunk ends in the chunk's first byte.
constexpr int kMaxTiles = kChunkTiles + 1;

/// A chunk's tiles as one row of bits. Positions count from the byte in which the chunk's first bit
/// lies; the tile before the chunk starts below 0.
struct Chunk {
  const std::uint32_t* words[kMaxTiles];
  std::int32_t start[kMaxTiles + 1];
  int tiles;
  std::uint32_t bytes;  ///< before stuffing
  std::uint32_t rounds;
  std::uint32_t interval;
  bool ends_interval, ends_scan;
};

struct Shared {
  alignas(16) std::uint32_t words[kRoundWords];
  alignas(16) std::uint8_t stage[16 + 2 * kRoundBytes + 4];
  Chunk chunk;
  std::uint32_t tile_bits[kMaxTiles];
  std::uint32_t warp[kWarps];
  std::uint64_t before;
};

/// Exclusive sum over the threads, and the sum of all. Synchronises once.
__device__ std::uint32_t cta_exclusive_sum(Shared& s, std::uint32_t value, std::uint32_t& total) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const std::uint32_t inclusive = warp_inclusive_sum(value);
  if (lane == 31) s.warp[warp] = inclusive;
  __syncthreads();
  const std::uint32_t others = lane < kWarps ? s.warp[lane] : 0;
  total = __reduce_add_sync(kFullWarp, others);
  return inclusive - value + __reduce_add_sync(kFullWarp, lane < warp ? others : 0u);
}

/// Fills s.chunk.
__device__ void open_chunk(const AssembleArgs& a, Shared& s) {
  const TileGrid& grid = a.grid;
  const std::uint32_t interval = blockIdx.x / grid.interval_chunks;
  const std::uint32_t skipped = blockIdx.x % grid.interval_chunks * kChunkTiles;
  const std::uint32_t interval_first = interval * grid.interval_tiles;
  const std::uint32_t interval_end = min(interval_first + grid.interval_tiles, grid.tiles);
  const std::uint32_t first = interval_first + skipped;
  const std::uint32_t end = min(first + kChunkTiles, interval_end);
  const std::uint32_t shown = skipped > 0 ? first - 1 : first;
  // All loads at once: the bits of the tiles, and what stands before them in the interval.
  if (threadIdx.x < end - shown) s.tile_bits[threadIdx.x] = a.tile_bits[shown + threadIdx.x];
  std::uint64_t before = 0;
  if (a.tile_first_bit != nullptr) {
    before = a.tile_first_bit[first] - a.tile_first_bit[interval_first];
    __syncthreads();
  } else {
    std::uint32_t own = 0, total = 0;  // kMaxSummedTiles tiles have less than 2^32 bits
    for (std::uint32_t t = interval_first + threadIdx.x; t < first; t += kThreads)
      own += a.tile_bits[t];
    cta_exclusive_sum(s, own, total);  // synchronises
    before = total;
  }
  if (threadIdx.x == 0) {
    Chunk& c = s.chunk;
    auto at = static_cast<std::int32_t>(before % 8);
    if (skipped > 0) at -= static_cast<std::int32_t>(s.tile_bits[0]);
    c.tiles = static_cast<int>(end - shown);
    for (int t = 0; t < c.tiles; ++t) {
      c.words[t] = a.words + (shown + static_cast<std::uint32_t>(t)) * kTileWords;
      c.start[t] = at;
      at += static_cast<std::int32_t>(s.tile_bits[t]);
    }
    c.start[c.tiles] = at;
    c.interval = interval;
    c.ends_interval = end == interval_end;
    c.ends_scan = end == grid.tiles;
    c.bytes = static_cast<std::uint32_t>(c.ends_interval ? at + 7 : at) / 8;
    c.rounds = max((c.bytes + kRoundBytes - 1) / kRoundBytes, 1u);
  }
  __syncthreads();
}

/// The bits of a round as words in s.words; behind the end of an interval there are ones (T.81
/// F.1.2.3).
__device__ void fill_round(Shared& s, std::uint32_t round) {
  const Chunk& c = s.chunk;
  const std::int32_t base = static_cast<std::int32_t>(round) * kRoundWords;  // in words
  const auto in_round = [&](std::int32_t word) { return word >= 0 && word < kRoundWords; };
  // Words in which tiles meet are put together by OR. Of edges in one word the first clears it.
  const auto t = static_cast<int>(threadIdx.x);
  const bool at_end = t == c.tiles;
  const std::int32_t edge = t <= c.tiles ? c.start[t] : -1;
  const std::int32_t edge_word = (edge >> 5) - base;
  if (edge >= 0 && in_round(edge_word) && (t == 0 || c.start[t - 1] >> 5 != edge >> 5))
    s.words[edge_word] = 0;
  __syncthreads();
  if (at_end && c.ends_interval && in_round(edge_word))
    atomicOr(s.words + edge_word, 0xFFFFFFFFu >> edge % 32);
  for (int i = 0; i < c.tiles; ++i) {
    const std::int32_t start = c.start[i], end = c.start[i + 1];
    const std::int32_t first = max(start >> 5, base);
    const std::int32_t stop = min((end + 31) >> 5, base + kRoundWords);
    const std::uint32_t* const from = c.words[i];
    for (std::int32_t w = first + static_cast<std::int32_t>(threadIdx.x); w < stop; w += kThreads) {
      const std::int32_t at = w * 32 - start;  // in the tile
      std::uint32_t bits = 0;
      if (at < 0) {
        bits = from[0] >> -at;
      } else {
        const std::int32_t next = (at / 32 + 1) * 32;
        const bool spills = at % 32 != 0 && next < end - start;  // else nothing stands there
        bits = __funnelshift_l(spills ? from[next / 32] : 0, from[at / 32], at);
      }
      const std::int32_t left = end - w * 32;
      if (left < 32) bits &= ~(0xFFFFFFFFu >> left);
      if (at < 0 || left < 32)
        atomicOr(s.words + (w - base), bits);
      else
        s.words[w - base] = bits;
    }
  }
  __syncthreads();
}

/// The thread's bytes of a round, the first one highest in word[0].
struct Piece {
  std::uint32_t word[kWordsPerThread];
  int bytes;  ///< that exist
};

__device__ Piece load_piece(const Shared& s, std::uint32_t round) {
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
  if (p.bytes < kWordsPerThread * 4) {  // what does not exist must not look like FF
#pragma unroll
    for (int w = 0; w < kWordsPerThread; ++w) {
      const int exist = p.bytes - 4 * w;
      if (exist < 4) p.word[w] &= exist <= 0 ? 0u : 0xFFFFFFFFu << (32 - 8 * exist);
    }
  }
  return p;
}

__device__ std::uint32_t count_ff(const Piece& p) {
  std::uint32_t bits = 0;
#pragma unroll
  for (const std::uint32_t word : p.word)
    bits += static_cast<std::uint32_t>(__popc(__vcmpeq4(word, 0xFFFFFFFFu)));
  return bits / 8;
}

/// Bytes before the chunk; by one warp.
__device__ std::uint64_t look_back(const std::uint64_t* states, std::uint32_t chunk) {
  std::uint64_t own = 0;
  walk_back<4>(states, chunk, [&](std::uint64_t state, bool counts) {
    if (counts) own += state & kTileSumMask;
    return false;
  });
  return warp_sum(own);
}

/// Publishes the size of the chunk and finds what stands before it; the result is s.before.
__device__ void find_place(const AssembleArgs& a, Shared& s, std::uint64_t size) {
  if (threadIdx.x < 32) {
    const std::uint32_t number = blockIdx.x;
    if (threadIdx.x == 0)
      store_relaxed(a.chunks + number, (number == 0 ? kTileInclusive : kTileAggregate) | size);
    const std::uint64_t before = number == 0 ? 0 : look_back(a.chunks, number);
    if (threadIdx.x == 0) {
      if (number > 0) store_relaxed(a.chunks + number, kTileInclusive | (before + size));
      s.before = before;
    }
  }
  __syncthreads();
}

/// The thread's bytes, stuffed, to shared memory.
__device__ void stage_piece(const Piece& p, std::uint8_t* to) {
#pragma unroll
  for (int w = 0; w < kWordsPerThread; ++w) {
    const std::uint32_t word = p.word[w];
    if (4 * w + 4 <= p.bytes && __vcmpeq4(word, 0xFFFFFFFFu) == 0) {
      to[0] = static_cast<std::uint8_t>(word >> 24);
      to[1] = static_cast<std::uint8_t>(word >> 16);
      to[2] = static_cast<std::uint8_t>(word >> 8);
      to[3] = static_cast<std::uint8_t>(word);
      to += 4;
    } else {
      for (int i = 0; i < min(p.bytes - 4 * w, 4); ++i) {
        const std::uint32_t byte = word >> (24 - 8 * i) & 0xFF;
        *to++ = static_cast<std::uint8_t>(byte);
        if (byte == 0xFF) *to++ = 0;
      }
    }
  }
}

/// The bytes of a round, stuffed, with the markers behind the last one, put together in shared
/// memory aligned as they will lie in global memory, and sent there. `at`: where the thread's bytes
/// stand among the `length` of the round. Returns how many bytes they are with the markers.
__device__ std::uint32_t store_round(const AssembleArgs& a, Shared& s, const Piece& p,
                                     std::uint32_t at, std::uint32_t length, std::uint64_t offset,
                                     bool last_round) {
  const Chunk& c = s.chunk;
  const auto skew =
      static_cast<std::uint32_t>((reinterpret_cast<std::uintptr_t>(a.out) + offset) % 16);
  stage_piece(p, s.stage + skew + at);
  if (last_round && c.ends_interval && (!c.ends_scan || a.end_of_image)) {
    if (threadIdx.x == 0) {
      s.stage[skew + length] = 0xFF;
      s.stage[skew + length + 1] =
          static_cast<std::uint8_t>(c.ends_scan ? marker::kEoi : marker::kRst0 + c.interval % 8);
    }
    length += 2;
  }
  __syncthreads();
  if (offset + length > a.capacity) return length;
  std::uint8_t* const out = a.out + offset - skew;  // aligned to 16
  const std::uint32_t end = skew + length;
  for (std::uint32_t unit = threadIdx.x; unit * 16 < end; unit += kThreads) {
    if (unit * 16 >= skew && unit * 16 + 16 <= end) {
      reinterpret_cast<uint4*>(out)[unit] = reinterpret_cast<const uint4*>(s.stage)[unit];
    } else {
#pragma unroll 1
      for (std::uint32_t i = max(unit * 16, skew); i < min(unit * 16 + 16, end); ++i)
        out[i] = s.stage[i];
    }
  }
  return length;
}

__global__ void __launch_bounds__(kThreads, kCtas)
    assemble_kernel(const __grid_constant__ AssembleArgs a) {
  __shared__ Shared s;
  wait_for_previous_kernel();
  if (threadIdx.x == 0) a.next_chunks[blockIdx.x] = 0;
  const std::uint32_t header = *a.header_bytes;
  open_chunk(a, s);
  const Chunk& c = s.chunk;
  const auto stuffed_bytes = [](const Piece& p) {
    return static_cast<std::uint32_t>(p.bytes) + count_ff(p);
  };
  // Mostly there is one round, which then is ready when its place is known.
  std::uint64_t size = c.ends_interval && !c.ends_scan ? 2 : 0;
  std::uint32_t at = 0, length = 0;
  for (std::uint32_t r = 0; r < c.rounds; ++r) {
    fill_round(s, r);
    at = cta_exclusive_sum(s, stuffed_bytes(load_piece(s, r)), length);
    size += length;
    if (c.rounds > 1) __syncthreads();
  }
  find_place(a, s, size);
  if (blockIdx.x == 0 && header <= a.capacity)
    for (std::uint32_t i = threadIdx.x; i < header; i += kThreads) a.out[i] = a.header[i];
  std::uint64_t offset = header + s.before;
  for (std::uint32_t r = 0; r < c.rounds; ++r) {
    if (c.rounds > 1) {
      __syncthreads();  // the stage is free again
      fill_round(s, r);
      at = cta_exclusive_sum(s, stuffed_bytes(load_piece(s, r)), length);
    }
    offset += store_round(a, s, load_piece(s, r), at, length, offset, r + 1 == c.rounds);
  }
  if (c.ends_scan && threadIdx.x == 0) *a.size = offset;
}

}  // namespace
}  // namespace fused

Status assemble(const AssembleArgs& args, cudaStream_t stream) {
  ZR_CUDA_TRY(
      launch_behind(fused::assemble_kernel, args.grid.chunks, fused::kThreads, stream, args));
  return Status::ok();
}

}  // namespace zerorun
