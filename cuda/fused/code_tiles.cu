// Samples -> the bits of each tile, in one kernel. A thread transforms and quantises one block and
// lists what is not 0; then all threads take equal parts of the tile's list, so that none waits for
// a neighbour with more to code.
// SPDX-License-Identifier: MIT
#include "cuda/fused/code_tiles.hpp"

#include "cuda/check.hpp"
#include "cuda/fused/code_items.cuh"
#include "cuda/fused/tile_blocks.cuh"
#include "cuda/launch.hpp"

namespace zerorun {
namespace fused {
namespace {

constexpr int kThreads = kTileThreads;
constexpr int kWarps = kThreads / 32;
/// CTAs that a processor holds: 24 warps with 80 registers.
constexpr int kCtas = 4;
/// Words of a thread that are kept; when one has more, the tile's items are coded a second time.
constexpr int kKeptWords = 16;

struct Shared {
  union {
    std::uint32_t item[kTileItems];
    std::uint32_t tile[kTileItems];                  // then the tile's bits
    std::int16_t coefficient[kBlockSize][kThreads];  // of a dense tile, zig-zag order
  };
  std::uint32_t word[kKeptWords][kThreads];  // first the samples of blocks at an edge
  union {
    CodeTable codes;
    std::uint32_t count[kEncodeTables * 256];  // in the order of CodeTable
  };
  ReciprocalTables reciprocals;
  std::uint32_t slot[kThreads];            // items or bits of each block in scan order
  volatile std::uint32_t coded[kThreads];  // Coded; volatile, or registers would keep it
  std::int16_t dc[kThreads];
  std::uint32_t warp[kWarps];
  Tile geometry;  // made by one thread: it takes some divisions
  std::int32_t carried_dc[kMaxComponents];
};

__device__ std::uint32_t warp_inclusive_sum(std::uint32_t value) {
  const unsigned lane = threadIdx.x % 32;
#pragma unroll
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const std::uint32_t left = __shfl_up_sync(kFullWarp, value, distance);
    if (lane >= distance) value += left;
  }
  return value;
}

struct Sums {
  std::uint32_t before, total;
  bool any;
};

/// Sum over the threads before this one, and over all; whether `flag` holds anywhere. Synchronises
/// once; the caller does before the next call.
__device__ Sums cta_sums(Shared& s, std::uint32_t own, bool flag) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const std::uint32_t inclusive = warp_inclusive_sum(own);
  if (lane == 31) s.warp[warp] = inclusive;
  const bool any = __syncthreads_or(flag) != 0;
  const std::uint32_t others = lane < kWarps ? s.warp[lane] : 0;
  return {inclusive - own + __reduce_add_sync(kFullWarp, lane < warp ? others : 0u),
          __reduce_add_sync(kFullWarp, others), any};
}

struct BlockSums {
  std::uint32_t before, total;
};

/// Sums of s.slot, a number for each block in scan order: over the blocks before the thread's own,
/// and over all. Every warp adds up for itself, so that one barrier is enough, before it begins.
__device__ BlockSums sum_slots(const Shared& s, Coded b) {
  constexpr unsigned kPerLane = kTileBlocks / 32;
  __syncthreads();
  const unsigned lane = threadIdx.x % 32;
  std::uint32_t own = 0;
#pragma unroll
  for (unsigned i = 0; i < kPerLane; ++i) own += s.slot[lane * kPerLane + i];
  const std::uint32_t inclusive = warp_inclusive_sum(own);
  const unsigned holder = b.scan() / kPerLane;
  std::uint32_t before = __shfl_sync(kFullWarp, inclusive - own, static_cast<int>(holder));
  for (unsigned i = holder * kPerLane; i < b.scan(); ++i) before += s.slot[i];
  return {before, __shfl_sync(kFullWarp, inclusive, 31)};
}

__device__ void load_words(void* to, const void* from, unsigned bytes) {
  for (unsigned i = threadIdx.x; i < bytes / 16; i += kThreads)
    static_cast<uint4*>(to)[i] = static_cast<const uint4*>(from)[i];
}

/// The thread's block, transformed. The first loads are under way together: samples, tables, DC.
/// `codes` may be null.
__device__ void open_block(const CodeTilesArgs& a, Shared& s, const CodeTable* codes,
                           Coefficients& c) {
  if (threadIdx.x == 0) s.geometry = tile_of(a);
  s.slot[threadIdx.x] = 0;
  if (threadIdx.x < kMaxComponents) s.carried_dc[threadIdx.x] = 0;
  __syncthreads();
  const Block b = block_of(a, s.geometry);
  s.coded[threadIdx.x] = Coded(b).word;
  wait_for_previous_kernel();
  uint2 rows[8] = {};
  if (b.exists) load_rows(a.plane[b.component], b, &s.word[0][0], rows);
  load_words(&s.reciprocals, a.reciprocals, sizeof s.reciprocals);
  if (codes != nullptr) load_words(&s.codes, codes, sizeof s.codes);
  if (!s.geometry.starts_interval && threadIdx.x / 32 == kWarps - 1)
    carry_dc(a, s.geometry, s.carried_dc);
  __syncthreads();
  if (b.exists) transform(rows, b, s.reciprocals.table[b.component == 0 ? 0 : 1], c);
}

/// Whether the block ends with EOB: its last coefficient is 0 (T.81 F.1.2.2).
__device__ bool has_eob(const Coefficients& c) { return c.high >> 31 == 0; }

__device__ void count_block_items(Shared& s, const Coefficients& c) {
  const Coded b(s.coded[threadIdx.x]);
  if (!b.exists()) return;
  s.dc[threadIdx.x] = static_cast<std::int16_t>(c.v[0]);
  s.slot[b.scan()] =
      static_cast<std::uint32_t>(1 + __popc(c.low) + __popc(c.high) + (has_eob(c) ? 1 : 0));
}

/// DC minus that of the block before (T.81 F.1.1.5.1).
__device__ std::int32_t dc_difference(const Shared& s, Coded b) {
  const int before = b.before();
  return s.dc[threadIdx.x] - (before < 0 ? s.carried_dc[b.component()] : s.dc[before]);
}

/// `before`: items of the blocks before it.
__device__ void list_block_items(Shared& s, const Coefficients& c, std::uint32_t before) {
  const Coded b(s.coded[threadIdx.x]);
  if (!b.exists()) return;
  std::uint32_t* next = s.item + before;
  *next++ = Item::dc(b.destination(), dc_difference(s, b));
#pragma unroll
  for (int first = 0; first < kBlockSize; first += 8) {
    const std::uint32_t group = (first < 32 ? c.low : c.high) >> first % 32 & 0xFF;
    if (group == 0) continue;  // often so for a whole warp
#pragma unroll
    for (int k = first; k < first + 8; ++k)
      if ((group >> (k - first) & 1) != 0) *next++ = Item::ac(c.at(k), k);
  }
  if (has_eob(c)) *next = Item::eob(b.destination());
}

/// Calls visit(item, position of the item before) for each item of the thread's block, whose
/// coefficients are in s.coefficient.
template <typename Visit>
__device__ void walk_dense_block(const Shared& s, const Coefficients& c, const Visit& visit) {
  const Coded b(s.coded[threadIdx.x]);
  visit(Item{Item::dc(b.destination(), dc_difference(s, b))}, 0);
  const std::uint32_t table = (Item::kFirstTable + b.destination()) << 24;
  int last = 0;
#pragma unroll 1
  for (int half = 0; half < 2; ++half) {
    for (std::uint32_t left = half == 0 ? c.low : c.high; left != 0; left &= left - 1) {
      const int k = 32 * half + __ffs(static_cast<int>(left)) - 1;
      const auto value = static_cast<std::uint32_t>(s.coefficient[k][threadIdx.x]);
      visit(Item{table + value * 256 + static_cast<std::uint32_t>(k)}, last);
      last = k;
    }
  }
  if (has_eob(c)) visit(Item{Item::eob(b.destination())}, last);
}

__device__ void keep_dense_block(Shared& s, const Coefficients& c) {
  if (Coded(s.coded[threadIdx.x]).exists()) {
#pragma unroll
    for (int k = 0; k < kBlockSize; ++k)
      s.coefficient[k][threadIdx.x] = static_cast<std::int16_t>(c.at(k));
  }
  __syncthreads();
}

__device__ void clear_words(std::uint32_t* words, std::uint32_t count) {
  for (unsigned i = threadIdx.x; i < count; i += kThreads) words[i] = 0;
  __syncthreads();
}

/// The output of the CTA.
struct TileOut {
  std::uint32_t* words;

  __device__ explicit TileOut(const CodeTilesArgs& a) : words(a.words + blockIdx.x * kTileWords) {}
  __device__ static void set_bits(const CodeTilesArgs& a, std::uint32_t bits) {
    if (threadIdx.x == 0) a.tile_bits[blockIdx.x] = bits;
  }
};

/// Codes block by block, first for the lengths, then into global memory.
__device__ void code_dense_tile(const CodeTilesArgs& a, Shared& s, const Coefficients& c) {
  keep_dense_block(s, c);  // synchronises
  s.slot[threadIdx.x] = 0;
  __syncthreads();
  const Coded b(s.coded[threadIdx.x]);
  if (b.exists()) {
    CountingWriter writer;
    walk_dense_block(s, c,
                     [&](Item item, int before) { code_item(item, before, s.codes, writer); });
    s.slot[b.scan()] = writer.at;
  }
  const BlockSums bits = sum_slots(s, b);
  const TileOut out(a);
  TileOut::set_bits(a, bits.total);
  clear_words(out.words, (bits.total + 31) / 32);
  if (b.exists()) {
    SharingWriter writer{out.words, bits.before};
    walk_dense_block(s, c,
                     [&](Item item, int before) { code_item(item, before, s.codes, writer); });
    writer.finish();
  }
}

/// The kept words of all threads -> the tile's words in shared, then in global memory.
__device__ void merge_words(Shared& s, std::uint32_t at, std::uint32_t own_bits,
                            std::uint32_t tile_words, std::uint32_t* out) {
  clear_words(s.tile, tile_words);
  std::uint32_t* words = s.tile + at / 32;
  const std::uint32_t* kept = &s.word[0][threadIdx.x];
  std::uint32_t before = 0;
  for (std::uint32_t bit = 0; bit < own_bits; bit += 32, kept += kThreads, ++words) {
    atomicOr(words, __funnelshift_r(*kept, before, at));
    before = *kept;
  }
  const std::uint32_t rest = __funnelshift_r(0, before, at);
  if (rest != 0) atomicOr(words, rest);
  __syncthreads();
  for (unsigned i = threadIdx.x; i < tile_words; i += kThreads) out[i] = s.tile[i];
}

__device__ std::uint32_t vector_items(std::uint32_t items) { return (items + 3) / 4 * 4; }
static_assert(kTileItems % 4 == 0);

/// Codes the items in s.item.
__device__ void code_listed_tile(const CodeTilesArgs& a, Shared& s, std::uint32_t items) {
  const std::uint32_t each = (items + kThreads - 1) / kThreads;
  const std::uint32_t begin = min(threadIdx.x * each, items), end = min(begin + each, items);
  KeepingWriter<kKeptWords> keeping{&s.word[0][0]};
  code_items(s.item, begin, end, s.codes, keeping);
  const std::uint32_t own_bits = keeping.finish();
  const Sums sums = cta_sums(s, own_bits, own_bits > 32 * kKeptWords);
  const TileOut out(a);
  TileOut::set_bits(a, sums.total);
  const std::uint32_t tile_words = (sums.total + 31) / 32;
  if (!sums.any && tile_words <= kTileItems) {
    merge_words(s, sums.before, own_bits, tile_words, out.words);
    return;
  }
  clear_words(out.words, tile_words);
  SharingWriter writer{out.words, sums.before};
  code_items(s.item, begin, end, s.codes, writer);
  writer.finish();
}

__global__ void __launch_bounds__(kThreads, kCtas)
    code_tiles_kernel(const __grid_constant__ CodeTilesArgs a) {
  __shared__ Shared s;
  Coefficients c;
  open_block(a, s, a.codes, c);
  count_block_items(s, c);
  const BlockSums items = sum_slots(s, Coded(s.coded[threadIdx.x]));
  if (items.total > kTileItems) {
    code_dense_tile(a, s, c);
    return;
  }
  list_block_items(s, c, items.before);
  __syncthreads();
  code_listed_tile(a, s, items.total);
}

__global__ void __launch_bounds__(kThreads, kCtas)
    collect_tiles_kernel(const __grid_constant__ CodeTilesArgs a, SymbolCounts* counts) {
  __shared__ Shared s;
  for (unsigned i = threadIdx.x; i < kEncodeTables * 256; i += kThreads) s.count[i] = 0;
  Coefficients c;
  open_block(a, s, nullptr, c);
  count_block_items(s, c);
  const BlockSums items = sum_slots(s, Coded(s.coded[threadIdx.x]));
  const bool dense = items.total > kTileItems;
  if (threadIdx.x == 0) a.item_count[blockIdx.x] = dense ? kDenseTile : items.total;
  if (dense) {
    keep_dense_block(s, c);
    if (Coded(s.coded[threadIdx.x]).exists())
      walk_dense_block(s, c, [&](Item item, int before) { count_item(item, before, s.count); });
  } else {
    list_block_items(s, c, items.before);
    __syncthreads();
    std::uint32_t* const out = a.items + std::int64_t{blockIdx.x} * kTileItems;
    // Filled up to whole vectors, in which they will be loaded.
    if (threadIdx.x < 4 && items.total + threadIdx.x < vector_items(items.total))
      out[items.total + threadIdx.x] = 0;
    for (unsigned i = threadIdx.x; i < items.total; i += kThreads) {
      out[i] = s.item[i];
      count_item(Item{s.item[i]}, i > 0 ? Item{s.item[i - 1]}.position() : 0, s.count);
    }
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < kEncodeTables * 256; i += kThreads)
    if (s.count[i] != 0)
      atomicAdd(&counts->count[swap_class(static_cast<int>(i / 256))][i % 256], s.count[i]);
}

__global__ void __launch_bounds__(kThreads, kCtas)
    code_collected_tiles_kernel(const __grid_constant__ CodeTilesArgs a) {
  __shared__ Shared s;
  wait_for_previous_kernel();
  const std::uint32_t items = a.item_count[blockIdx.x];
  if (items == kDenseTile) {
    Coefficients c;
    open_block(a, s, a.codes, c);
    count_block_items(s, c);
    __syncthreads();  // s.dc is there
    code_dense_tile(a, s, c);
    return;
  }
  load_words(&s.codes, a.codes, sizeof s.codes);
  load_words(s.item, a.items + std::int64_t{blockIdx.x} * kTileItems, vector_items(items) * 4);
  __syncthreads();
  code_listed_tile(a, s, items);
}

}  // namespace
}  // namespace fused

Status code_tiles(const CodeTilesArgs& args, cudaStream_t stream) {
  ZR_CUDA_TRY(
      launch_behind(fused::code_tiles_kernel, args.grid.tiles, fused::kThreads, stream, args));
  return Status::ok();
}

Status collect_tiles(const CodeTilesArgs& args, SymbolCounts* counts, cudaStream_t stream) {
  ZR_CUDA_TRY(launch_behind(fused::collect_tiles_kernel, args.grid.tiles, fused::kThreads, stream,
                            args, counts));
  return Status::ok();
}

Status code_collected_tiles(const CodeTilesArgs& args, cudaStream_t stream) {
  ZR_CUDA_TRY(launch_behind(fused::code_collected_tiles_kernel, args.grid.tiles, fused::kThreads,
                            stream, args));
  return Status::ok();
}

}  // namespace zerorun
