// A tile of variable-length encode: its symbols -> its bits in shared memory. Two steps, between
// which the kernel has a barrier of all its warps.
// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/entropy/vle_pack.cuh"

namespace zerorun::cuda_entropy::vle {

struct Args {
  const std::uint8_t* in;
  std::uint64_t size;
  const Codebook* book;
  std::uint32_t* out;
  std::uint64_t capacity;
  unsigned chunk_mask;     // symbols per chunk - 1
  unsigned chunk_shift;    // their logarithm
  std::uint64_t* offsets;  // or null
  std::uint64_t* states;   // [tiles] of the look-back
  std::uint64_t* tails;    // [tiles] bits of the last, incomplete word
  unsigned* ticket;
  Outcome* outcome;
  unsigned tiles;
  unsigned plain_tiles;  // these first tiles are whole and aligned for vector loads
};

/// A CTA's tile, and its shared memory.
template <int Packers>
struct Tiles {
  static constexpr int kPackers = Packers;  // threads that pack: the first ones of the CTA
  static constexpr int kThreads = kPackers + 32;
  static constexpr int kWarps = kPackers / 32;
  static constexpr int kTile = kPackers * kPerThread;
  static constexpr int kBuffers = 2;
  /// Tiles with more than 16 bits a symbol do not fit a buffer and go straight to the output.
  static constexpr unsigned kBufferBits = kTile * 16;

  /// A tile that is packed, or about to be.
  struct Buffer {
    /// words[0] is the tail of the tile before, words[1 + i] word i of this one. A word of zeros is
    /// behind the last.
    unsigned words[1 + kBufferBits / 32 + 2];
    unsigned bits;
    bool direct;                  // the bits are too many for `words`
    unsigned warp_first[kWarps];  // first bit of each warp
    unsigned warp_tail[kWarps];   // its last bits, for the warp to the right
    unsigned first[kPackers];     // first bit of each thread
    unsigned half[kPackers];      // bits of the first half of its symbols
  };

  struct Shared {
    Table table;
    Buffer buffer[kBuffers];
    unsigned warp_bits[kWarps];
    unsigned next_tile;
    std::uint64_t base;  // bits before the tile that is being stored
  };
};

template <typename T>
__device__ inline Place place_of(const Args& a, unsigned tile) {
  const std::uint64_t first = std::uint64_t{tile} * T::kTile + threadIdx.x * kPerThread;
  int count = kPerThread;
  if (tile >= a.plain_tiles)
    count = first >= a.size ? 0 : static_cast<int>(min(a.size - first, std::uint64_t{kPerThread}));
  return {a.in + first, first, count};
}

/// Whether the warp packs. The vote tells the compiler that all lanes agree; without it each
/// shuffle in the branch is prepared for a divided warp.
template <typename T>
__device__ inline bool warp_packs() {
  return __all_sync(kFullWarp, threadIdx.x < T::kPackers);
}

/// What a thread keeps in registers between the two steps.
struct Lookups {
  Pairs pairs;   ///< only if the table is packed
  unsigned own;  ///< bits of all its symbols
};

/// Step 1: looks the symbols up and finds how many bits the warp has. In the buffer it writes only
/// what this thread alone reads, because the rest may still be in use.
template <typename T>
__device__ inline Lookups look_up_tile(const Args& a, typename T::Shared& s, typename T::Buffer& b,
                                       unsigned tile, const Symbols& symbols, bool packed) {
  Lookups l;
  unsigned half = 0;
  if (packed) {
    l.pairs = look_up_pairs(
        lane_table(s.table), symbols, tile < a.plain_tiles, [&] { return place_of<T>(a, tile); },
        a.outcome);
    l.own = l.pairs.total();
    half = l.pairs.half_total();
  } else {
    const Place place = place_of<T>(a, tile);
    half = plain_bits(s.table, place, 0, kPerThread / 2, a.outcome);
    l.own = half + plain_bits(s.table, place, kPerThread / 2, kPerThread, a.outcome);
  }
  b.half[threadIdx.x] = half;
  const unsigned all = warp_add(l.own);
  if (threadIdx.x % 32 == 0) s.warp_bits[threadIdx.x / 32] = all;
  return l;
}

/// Publishes how many bits the tile has. Returns those of the warps before this one; `total`
/// becomes those of all warps with the padding of the last tile.
template <typename T>
__device__ inline unsigned sum_warps(const Args& a, const typename T::Shared& s,
                                     typename T::Buffer& b, unsigned tile, unsigned& total) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned others = lane < T::kWarps ? s.warp_bits[lane] : 0;
  total = warp_add(others);
  const unsigned warp_first = warp_add(lane < warp ? others : 0u);
  if (lane == 0) b.warp_first[warp] = warp_first;
  if (threadIdx.x == 0) {
    const std::uint64_t behind = a.size - std::uint64_t{tile} * T::kTile;
    b.bits = behind < T::kTile ? total - (T::kTile - static_cast<unsigned>(behind)) : total;
    b.direct = total > T::kBufferBits;
    store_relaxed(a.states + tile, (tile == 0 ? kTileInclusive : kTileAggregate) | b.bits);
  }
  return warp_first;
}

/// Step 2: puts the bits into the buffer, unless there are too many for it.
template <typename T>
__device__ inline void pack_tile(const Args& a, const typename T::Shared& s, typename T::Buffer& b,
                                 unsigned tile, const Lookups& l, bool packed) {
  unsigned total = 0;
  const unsigned before = warp_inclusive_sum(l.own) - l.own;
  const unsigned at = sum_warps<T>(a, s, b, tile, total) + before;
  b.first[threadIdx.x] = at;
  if (total > T::kBufferBits) return;

  unsigned* const first = b.words + 1 + at / 32;
  BitWriter writer{first, at, nullptr};
  if (__all_sync(kFullWarp, packed && l.pairs.fit()))
    append_pairs(l.pairs, writer);
  else
    append_singly<false>(s.table, packed, place_of<T>(a, tile), writer);
  join_lanes(writer, first, 0);
  if (threadIdx.x % 32 == 31) b.warp_tail[threadIdx.x / 32] = writer.pending;
  if (threadIdx.x == T::kPackers - 1) {
    writer.words[0] = writer.pending;
    writer.words[1] = 0;  // the output's last word may have bits of it
  }
}

/// The last 32 bits of a packed tile, the very last one lowest. A tile with a right neighbour has
/// at least one bit a symbol, so it has 32 bits.
template <typename T>
__device__ inline unsigned tail_of(const typename T::Buffer& b) {
  const unsigned* const words = b.words + 1;
  const unsigned word = b.bits / 32;
  return __funnelshift_l(words[word], words[word - 1], b.bits);
}

/// Completes the words that two warps share. By one warp, a lane for each pair of warps.
template <typename T>
__device__ inline void join_warps(const typename T::Buffer& b, unsigned* words, unsigned base,
                                  const unsigned* end) {
  const unsigned lane = threadIdx.x % 32;
  if (lane == 0 || lane >= T::kWarps) return;
  unsigned* const word = words + (base + b.warp_first[lane]) / 32;
  if (end == nullptr || word < end) *word |= b.warp_tail[lane - 1];
}

}  // namespace zerorun::cuda_entropy::vle
