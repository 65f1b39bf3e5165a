// Variable-length encode of bytes in one pass over the input. Serial twin:
// codec/entropy/variable_length.cpp; the published form: vle_chained.cu.
//
// Persistent CTAs take tiles of some thousand symbols. Each codeword is looked up once, in a table
// with a copy for every memory bank, and codewords are merged in pairs in registers. The tile's
// bits are put together in one of two buffers in shared memory. While the other warps pack the next
// tile, one warp finds the place of this one in the output; then the CTA stores it in whole words.
// Where threads, warps or tiles share a word, the last of them stores it with the bits of the
// others: every word is stored once, and nothing has to be cleared or ORed atomically.
// SPDX-License-Identifier: MIT
#include <bit>
#include <string>

#include "cuda/base/look_back.cuh"
#include "cuda/base/launch.hpp"
#include "cuda/base/this_device.hpp"
#include "cuda/entropy/vle_tile.cuh"

namespace zerorun::cuda_entropy {
namespace {

using namespace vle;

/// 15 warps pack and one finds places; with 64 registers two such CTAs fill a processor. GB/s of
/// 256 MB with 0, 4 and 8 bits of entropy (H200): 1113, 1048, 914; with words that are cleared and
/// ORed atomically 757, 657, 651.
using LargeTiles = Tiles<480>;
/// The most packers for 99 and 64 KiB of shared memory: capability 8.6, 8.9, 12.x; 7.5. Not
/// measured.
using MediumTiles = Tiles<448>;
using SmallTiles = Tiles<224>;
static_assert(sizeof(LargeTiles::Shared) <= limits_of_capability(80).shared_of_cta);
static_assert(sizeof(MediumTiles::Shared) <= limits_of_capability(86).shared_of_cta);
static_assert(sizeof(SmallTiles::Shared) <= limits_of_capability(75).shared_of_cta);
constexpr int kRegisters = 64;
constexpr unsigned kNoTile = 0xFFFFFFFFu;
/// Marks the last bits of a tile as published to its right neighbour.
constexpr std::uint64_t kTailReady = std::uint64_t{1} << 63;

__device__ void publish_tail(const Args& a, unsigned tile, unsigned tail) {
  store_relaxed(a.tails + tile, kTailReady | tail);
}

/// Finds where the tile starts in the output, and the bits before it in its first word. By one
/// warp.
template <typename T>
__device__ void find_place(const Args& a, typename T::Shared& s, typename T::Buffer& b,
                           unsigned tile) {
  const bool leader = threadIdx.x % 32 == 0;
  std::uint64_t base = 0;
  if (tile > 0) {
    std::uint64_t tail =
        leader ? load_relaxed(a.tails + tile - 1) : 0;  // loaded during the look-back
    base = look_back(a.states, tile);
    if (leader) {
      store_relaxed(a.states + tile, kTileInclusive | (base + b.bits));
      if (base % 32 != 0)
        while ((tail & kTailReady) == 0) tail = load_relaxed(a.tails + tile - 1);
      b.words[0] = base % 32 != 0 ? static_cast<unsigned>(tail) : 0;
    }
  }
  if (leader) s.base = base;
}

/// Adds to a packed tile what its packers did not know. By one warp.
template <typename T>
__device__ void finish_tile(const Args& a, typename T::Shared& s, typename T::Buffer& b,
                            unsigned tile) {
  join_warps<T>(b, b.words + 1, 0, nullptr);
  find_place<T>(a, s, b, tile);
}

/// Words of the output from word `first` on that a tile up to bit `end` may store.
__device__ unsigned words_to_store(const Args& a, std::uint64_t first, std::uint64_t end,
                                   bool last_tile) {
  const std::uint64_t words = (last_tile ? ceil_div(end, 32) : end / 32) - first;
  const std::uint64_t room = first < a.capacity ? a.capacity - first : 0;
  if (words > room && threadIdx.x == 0)  // after all faults of symbols, as in the serial twin
    report_fault(a.outcome, a.size, Errc::output_too_small);
  return static_cast<unsigned>(min(words, room));
}

/// Stores the entries of the chunk index, and after the last tile the number of bits.
template <typename T>
__device__ void store_index(const Args& a, const typename T::Shared& s, const typename T::Buffer& b,
                            unsigned tile) {
  if (a.offsets != nullptr && threadIdx.x < T::kPackers) {
    const std::uint64_t symbol = std::uint64_t{tile} * T::kTile + threadIdx.x * kPerThread;
    const unsigned low = static_cast<unsigned>(symbol);  // enough, because the mask is below 2^20
    if ((low & a.chunk_mask) == 0 && symbol < a.size)
      a.offsets[symbol >> a.chunk_shift] = s.base + b.first[threadIdx.x];
    if (a.chunk_mask == kPerThread / 2 - 1 && symbol + kPerThread / 2 < a.size)
      a.offsets[(symbol >> a.chunk_shift) + 1] =
          s.base + b.first[threadIdx.x] + b.half[threadIdx.x];
  }
  if (tile + 1 == a.tiles && threadIdx.x == 0) {
    a.outcome->count = s.base + b.bits;
    if (a.offsets != nullptr)
      a.offsets[ceil_div(a.size, std::uint64_t{a.chunk_mask} + 1)] = s.base + b.bits;
  }
}

/// Stores the complete words of a packed tile in its place, and the incomplete last word of the
/// last tile.
template <typename T>
__device__ void store_tile(const Args& a, const typename T::Shared& s, const typename T::Buffer& b,
                           unsigned tile) {
  const std::uint64_t first = s.base / 32;
  const unsigned words = words_to_store(a, first, s.base + b.bits, tile + 1 == a.tiles);
  const unsigned shift = static_cast<unsigned>(s.base % 32);
  std::uint32_t* const out = a.out + first;
#pragma unroll 4
  for (unsigned i = threadIdx.x; i < words; i += T::kThreads)
    out[i] = __funnelshift_r(b.words[1 + i], b.words[i], shift);
  store_index<T>(a, s, b, tile);
}

/// Stores a tile that has too many bits for a buffer: one warp finds its place, then the threads
/// write their words there.
template <typename T>
__device__ void store_directly(const Args& a, typename T::Shared& s, typename T::Buffer& b,
                               unsigned tile, bool packed) {
  const bool packs = threadIdx.x < T::kPackers;
  const bool last_tile = tile + 1 == a.tiles;
  if (!packs) find_place<T>(a, s, b, tile);
  __syncthreads();
  const unsigned shift = static_cast<unsigned>(s.base % 32);
  unsigned* const words = a.out + s.base / 32;
  const unsigned* const end = words + words_to_store(a, s.base / 32, s.base + b.bits, last_tile);
  if (packs) {
    const unsigned at = shift + b.first[threadIdx.x];
    unsigned* const first = words + at / 32;
    BitWriter writer{first, at, end};
    append_singly<true>(s.table, packed, place_of<T>(a, tile), writer);
    join_lanes(writer, first, threadIdx.x == 0 && shift > 0 ? b.words[0] << (32 - shift) : 0);
    if (threadIdx.x % 32 == 31) b.warp_tail[threadIdx.x / 32] = writer.pending;
    if (threadIdx.x == T::kPackers - 1) {
      if (writer.words < end) *writer.words = writer.pending;
      if (!last_tile) publish_tail(a, tile, __funnelshift_l(writer.pending, 0, writer.at));
    }
  }
  __syncthreads();
  if (!packs) join_warps<T>(b, words, shift, end);
  store_index<T>(a, s, b, tile);
}

/// Terminates: a CTA does not wait while it packs and publishes what others need before it waits,
/// so that the first tile that is not stored yet finds everything before it published.
template <typename T>
__global__ void __maxnreg__(kRegisters) encode_kernel(Args a) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto& s = *reinterpret_cast<typename T::Shared*>(memory);
  const bool packed = load_table(*a.book, s.table);
  if (threadIdx.x == T::kPackers) s.next_tile = atomicAdd(a.ticket, 1u);
  __syncthreads();
  unsigned tile = s.next_tile;
  Symbols symbols = {};
  if (warp_packs<T>() && tile < a.tiles)
    symbols = load_symbols(place_of<T>(a, tile), tile < a.plain_tiles);
  unsigned waiting = kNoTile;  // packed, and not stored yet
  unsigned now = 0;
  for (; tile < a.tiles; now ^= 1) {
    typename T::Buffer& b = s.buffer[now];
    typename T::Buffer& before = s.buffer[now ^ 1];
    Lookups lookups;
    if (warp_packs<T>()) lookups = look_up_tile<T>(a, s, b, tile, symbols, packed);
    // From here on the bits of all warps are known, the ticket was read, and `b` is free.
    __syncthreads();
    if (warp_packs<T>()) {
      pack_tile<T>(a, s, b, tile, lookups, packed);
    } else {
      if (waiting != kNoTile) finish_tile<T>(a, s, before, waiting);
      // As late as possible: a ticket drawn early makes tiles to the right wait for this CTA.
      if (threadIdx.x == T::kPackers) s.next_tile = atomicAdd(a.ticket, 1u);
    }
    __syncthreads();
    const unsigned next = s.next_tile;
    const bool direct = b.direct;
    if (threadIdx.x == T::kPackers - 1 && tile + 1 < a.tiles && !direct)
      publish_tail(a, tile, tail_of<T>(b));
    if (warp_packs<T>() && next < a.tiles)
      symbols = load_symbols(place_of<T>(a, next), next < a.plain_tiles);
    if (waiting != kNoTile) store_tile<T>(a, s, before, waiting);
    if (direct) {
      __syncthreads();  // s.base was read
      store_directly<T>(a, s, b, tile, packed);
    }
    waiting = direct ? kNoTile : tile;
    tile = next;
  }
  if (waiting == kNoTile) return;
  typename T::Buffer& last = s.buffer[now ^ 1];
  __syncthreads();  // s.base was read
  if (!warp_packs<T>()) finish_tile<T>(a, s, last, waiting);
  __syncthreads();
  store_tile<T>(a, s, last, waiting);
}

/// For an empty input, which has no tile that would write the end of the index.
__global__ void empty_index_kernel(std::uint64_t* offsets) { offsets[0] = 0; }

template <typename T>
Status launch(const Args& a, cudaStream_t stream) {
  static SharedPermission permission(reinterpret_cast<const void*>(encode_kernel<T>));
  constexpr std::size_t kBytes = sizeof(typename T::Shared);
  ZR_TRY(permission.raise(kBytes));
  LaunchShape shape{1, T::kThreads, kBytes};
  ZR_CUDA_TRY(persistent_grid(encode_kernel<T>, T::kThreads, kBytes, a.tiles, shape.grid));
  return ZR_CUDA_STATUS(launch_alone(encode_kernel<T>, shape, stream, a));
}

/// `a` lacks what depends on the size of tiles.
template <typename T>
Status encode_tiles(void* d_scratch, std::size_t& scratch_bytes, Args a, cudaStream_t stream) {
  const std::uint64_t tiles = ceil_div(a.size, T::kTile);
  if (tiles > kMaxGrid) {
    constexpr int kBits = std::bit_width(std::uint64_t{kMaxGrid} * T::kTile) - 1;
    return Status(Errc::invalid_argument,
                  "at most 2^" + std::to_string(kBits) + " symbols can be encoded by one call");
  }
  CallerScratch scratch(d_scratch);
  std::uint64_t* const state = scratch.take<std::uint64_t>(1 + 2 * tiles);
  if (Status status = scratch.settle(scratch_bytes); !status || scratch.measuring()) return status;
  ZR_TRY(reset(state, 1 + 2 * tiles, a.outcome, stream));
  if (tiles == 0) {
    if (a.offsets != nullptr) ZR_LAUNCH(empty_index_kernel, 1, 1, stream, a.offsets);
    return Status::ok();
  }
  a.ticket = reinterpret_cast<unsigned*>(state);
  a.states = state + 1;
  a.tails = state + 1 + tiles;
  a.tiles = static_cast<unsigned>(tiles);
  const bool aligned = reinterpret_cast<std::uintptr_t>(a.in) % sizeof(uint4) == 0;
  a.plain_tiles = aligned ? static_cast<unsigned>(a.size / T::kTile) : 0;
  return launch<T>(a, stream);
}

}  // namespace

Status encode(void* d_scratch, std::size_t& scratch_bytes, const std::uint8_t* d_in,
              std::uint64_t size, const Codebook* d_book, std::uint32_t* d_out,
              std::uint64_t capacity, std::uint32_t chunk_symbols, std::uint64_t* d_offsets,
              Outcome* d_outcome, cudaStream_t stream) {
  if (d_offsets != nullptr) ZR_TRY(check_chunk_symbols(chunk_symbols));
  Args args{};
  args.in = d_in;
  args.size = size;
  args.book = d_book;
  args.out = d_out;
  args.capacity = capacity;
  args.offsets = d_offsets;
  args.outcome = d_outcome;
  if (d_offsets != nullptr) {
    args.chunk_mask = chunk_symbols - 1;
    args.chunk_shift = static_cast<unsigned>(std::countr_zero(chunk_symbols));
  }
  ZR_LET(limits, current_limits());
  const std::size_t most = limits.shared_of_cta;
  const auto encode_by = sizeof(LargeTiles::Shared) <= most    ? encode_tiles<LargeTiles>
                         : sizeof(MediumTiles::Shared) <= most ? encode_tiles<MediumTiles>
                                                               : encode_tiles<SmallTiles>;
  return encode_by(d_scratch, scratch_bytes, args, stream);
}

}  // namespace zerorun::cuda_entropy
