// Samples -> the bits of each tile, in one kernel. A warp lists the items of its tile; then its
// lanes code equal parts of the list, so that no lane waits for one with more to code. The warps
// wait for each other once, for the tables. And, for progressive frames, samples -> coefficients in
// memory with the same arithmetic.
// SPDX-License-Identifier: MIT
#include "cuda/base/device_limits.hpp"
#include "cuda/base/launch.hpp"
#include "cuda/encode/pack_items.cuh"

namespace zerorun {
namespace cuda_encode {
namespace {

__device__ const CodeTable* codes_of_frame(const CodeTilesArgs& a) {
  return a.codes + (a.own_codes ? blockIdx.y : 0);
}

static_assert(bounded_ctas(kCodeTilesCtas, kThreads, sizeof(Shared), 90) == kCodeTilesCtas,
              "as measured on Hopper");

/// CTAs of code_tiles_kernel and code_collected_tiles_kernel on a processor.
constexpr int code_ctas([[maybe_unused]] bool tuned) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 1000
  if (tuned) return kTunedCtas10;
#endif
  return kCodeTilesCtas;
}

template <bool kTuned>
__global__ void __launch_bounds__(kThreads,
                                  bounded_ctas(code_ctas(kTuned), kThreads, sizeof(Shared)))
    code_tiles_kernel(const __grid_constant__ CodeTilesArgs a) {
  __shared__ Shared s;
  WarpShared& w = s.of_warp[warp_index()];
  const std::uint32_t number = tile_number();
  const Lane lane(a, number);
  wait_for_previous_kernel();
  if (is_skipped(a.skip)) return;
  if constexpr (kTuned) fetch_rules(*a.tune);
  fetch_by_cta(s.reciprocals, a.reciprocals);
  fetch_by_cta(s.codes, codes_of_frame(a));
  Coefficients c;
  const Coded b = transform_rows_of_tile<false, kTuned>(a, s, lane, a.tune, c);
  wait_for_fetched();
  if (number >= a.grid.tiles) return;
  finish_transform<kTuned>(s, w, b, c);
  const Sums items = list_items(s, w, b, c);
  if (items.total > kTileItems)
    code_dense_tile(a, s, w, number, b, c);
  else
    code_listed_tile(a, s, w, number, items.total);
}

template <bool kTuned>
__device__ void collect_tile(const CodeTilesArgs& a, Shared& s, WarpShared& w, std::uint32_t number,
                             const Coded& b, Coefficients& c) {
  finish_transform<kTuned>(s, w, b, c);
  const std::uint32_t items = list_items(s, w, b, c).total;
  const bool dense = items > kTileItems;
  const std::uint32_t index = a.grid.tile_index(number);
  if (lane_index() == 0) a.item_count[index] = dense ? kDenseTile : items;
  if (dense) {
    count_dense_tile(s, w, b, c);
    return;
  }
  store_items(a, w, index, items);
  count_listed_tile(s, w, items);
}

template <bool kTuned>
__global__ void __launch_bounds__(kThreads, bounded_ctas(kCodeTilesCtas, kThreads, sizeof(Shared)))
    collect_tiles_kernel(const __grid_constant__ CodeTilesArgs a, SymbolCounts* counts) {
  __shared__ Shared s;
  WarpShared& w = s.of_warp[warp_index()];
  const std::uint32_t number = tile_number();
  clear_counts(s);
  const Lane lane(a, number);
  wait_for_previous_kernel();
  let_next_kernel_begin();  // the next kernel has few CTAs
  if (is_skipped(a.skip)) return;
  if constexpr (kTuned) fetch_rules(*a.tune);
  fetch_by_cta(s.reciprocals, a.reciprocals);
  Coefficients c;
  const Coded b = transform_rows_of_tile<false, kTuned>(a, s, lane, a.tune, c);
  wait_for_fetched();
  if (number < a.grid.tiles) collect_tile<kTuned>(a, s, w, number, b, c);
  __syncthreads();
  add_counts(s, counts + blockIdx.y);
}

template <bool kTuned>
__global__ void __launch_bounds__(kThreads,
                                  bounded_ctas(code_ctas(kTuned), kThreads, sizeof(Shared)))
    code_collected_tiles_kernel(const __grid_constant__ CodeTilesArgs a, SymbolCounts* counts) {
  __shared__ Shared s;
  WarpShared& w = s.of_warp[warp_index()];
  const std::uint32_t number = tile_number();
  const std::uint32_t index = a.grid.tile_index(number);
  std::uint32_t items = 0;
  // Fetches the output of collect_tiles() and kernels before it. They have ended: the kernel
  // between them and this one waits for them, and only then lets this one begin.
  const auto fetch_collected = [&] {
    if constexpr (kTuned) fetch_rules(*a.tune);
    fetch_by_cta(s.reciprocals, a.reciprocals);
    if (number < a.grid.tiles) items = __ldcg(a.item_count + index);
    if (items != kDenseTile)
      fetch(w.item, a.items + std::int64_t{index} * kTileItems, vectors(items),
            static_cast<unsigned>(lane_index()), 32);
  };
  if (a.skip == nullptr) fetch_collected();  // with `skip` there may be no output
  wait_for_previous_kernel();
  if (a.skip != nullptr) {
    if (is_skipped(a.skip)) return;
    fetch_collected();
  }
  fetch_by_cta(s.codes, codes_of_frame(a));
  if (blockIdx.x == 0) clear_counts(counts[blockIdx.y]);
  wait_for_fetched();
  if (number >= a.grid.tiles) return;
  if (items != kDenseTile) {
    code_listed_tile(a, s, w, number, items);
    return;
  }
  Coefficients c;
  const Coded b = transform_rows_of_tile<true, kTuned>(a, s, Lane(a, number), a.tune, c);
  __syncwarp();
  finish_transform<kTuned>(s, w, b, c);
  code_dense_tile(a, s, w, number, b, c);
}

// Progressive frames: samples -> coefficients in memory, a lane for each block.

/// Where the blocks go, and what is to be cleared.
struct StoreArgs {
  StoredFrames stored;
  std::uint64_t* cleared;
  std::uint64_t cleared_count;
};

__device__ std::int32_t value_of(std::uint32_t coefficient) {
  return static_cast<std::int16_t>(coefficient);
}

/// Stores the coefficients of a block, two in a word.
__device__ void store_values(const Coefficients& c, std::int16_t* to) {
#pragma unroll
  for (int k = 0; k < kBlockSize; k += 8)
    reinterpret_cast<uint4*>(to)[k / 8] = make_uint4(__byte_perm(c.at(k), c.at(k + 1), 0x5410),
                                                     __byte_perm(c.at(k + 2), c.at(k + 3), 0x5410),
                                                     __byte_perm(c.at(k + 4), c.at(k + 5), 0x5410),
                                                     __byte_perm(c.at(k + 6), c.at(k + 7), 0x5410));
}

/// Of the coefficients that are kept, those with bits `level` and above.
__device__ std::uint64_t mask_of_level(const Coefficients& c, std::uint32_t level) {
  std::uint32_t half[2] = {};
#pragma unroll
  for (int k = 1; k < kBlockSize; ++k)
    half[k / 32] |= static_cast<std::uint32_t>(abs(value_of(c.at(k))) >> level != 0) << k % 32;
  return std::uint64_t{half[1] & c.high} << 32 | (half[0] & c.low);
}

__device__ void store_block(const StoredFrames& to, const Block& b, const Coefficients& c) {
  const StoredComponent& component = to.component[b.component];
  const std::uint64_t block = component.first +
                              static_cast<std::uint32_t>(b.y) * component.blocks_wide +
                              static_cast<std::uint32_t>(b.x);
  const std::uint64_t frame = blockIdx.y;
  to.dc[frame * to.blocks + block] = static_cast<std::int16_t>(c.v[0]);
  store_values(c, to.ac + (frame * to.blocks + block) * kBlockSize);
  std::uint64_t* level = to.nonzero + frame * to.levels * to.blocks + block;
  *level = std::uint64_t{c.high} << 32 | c.low;
#pragma unroll 1
  for (std::uint32_t l = 1; l < to.levels; ++l) *(level += to.blocks) = mask_of_level(c, l);
}

template <bool kTuned>
__global__ void __launch_bounds__(kThreads,
                                  bounded_ctas(kStoreBlocksCtas, kThreads, sizeof(Shared)))
    store_blocks_kernel(const __grid_constant__ CodeTilesArgs a,
                        const __grid_constant__ StoreArgs store) {
  __shared__ Shared s;
  WarpShared& w = s.of_warp[warp_index()];
  const std::uint32_t number = tile_number();
  const Lane lane(a, number);
  wait_for_previous_kernel();
  const std::uint64_t ctas = std::uint64_t{gridDim.x} * gridDim.y;
  const std::uint64_t cta = std::uint64_t{blockIdx.y} * gridDim.x + blockIdx.x;
  for (std::uint64_t i = cta * kThreads + threadIdx.x; i < store.cleared_count;
       i += ctas * kThreads)
    store.cleared[i] = 0;
  if constexpr (kTuned) fetch_rules(*a.tune);
  fetch_by_cta(s.reciprocals, a.reciprocals);
  Coefficients c;
  const Coded b = transform_rows_of_tile<false, kTuned>(a, s, lane, a.tune, c);
  wait_for_fetched();
  if (number >= a.grid.tiles) return;
  finish_transform<kTuned>(s, w, b, c);
  if (!b.bare()) store_block(store.stored, Lane(a, number).block, c);
}

/// Launches one of two forms of a kernel, with CTAs for all tiles.
template <typename... More>
Status launch(void (*plain)(CodeTilesArgs, More...), void (*tuned)(CodeTilesArgs, More...),
              cudaStream_t stream, const CodeTilesArgs& args, More... more) {
  const LaunchShape shape{ceil_div(args.grid.tiles, std::uint32_t{kWarps}), kThreads, 0,
                          args.frames};
  const auto form = args.tune != nullptr ? tuned : plain;
  return ZR_CUDA_STATUS(launch_behind(form, shape, stream, args, more...));
}

}  // namespace
}  // namespace cuda_encode

using namespace cuda_encode;

Status code_tiles(const CodeTilesArgs& args, cudaStream_t stream) {
  return launch(code_tiles_kernel<false>, code_tiles_kernel<true>, stream, args);
}

Status collect_tiles(const CodeTilesArgs& args, SymbolCounts* counts, cudaStream_t stream) {
  return launch(collect_tiles_kernel<false>, collect_tiles_kernel<true>, stream, args, counts);
}

Status code_collected_tiles(const CodeTilesArgs& args, SymbolCounts* counts, cudaStream_t stream) {
  return launch(code_collected_tiles_kernel<false>, code_collected_tiles_kernel<true>, stream, args,
                counts);
}

Status store_blocks(const CodeTilesArgs& tiles, const ScriptArgs& args, cudaStream_t stream) {
  const StoreArgs store{args.stored, args.cleared, args.cleared_count};
  return launch(store_blocks_kernel<false>, store_blocks_kernel<true>, stream, tiles, store);
}

}  // namespace zerorun
