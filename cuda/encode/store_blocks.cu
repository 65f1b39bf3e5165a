// Samples -> coefficients in memory, a lane for each block, with the arithmetic of code_tiles().
// SPDX-License-Identifier: MIT
#include "cuda/base/architecture.cuh"
#include "cuda/encode/list_items.cuh"
#include "cuda/encode/scan_kernels.hpp"

namespace zerorun {
namespace cuda_encode {
namespace {

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

}  // namespace
}  // namespace cuda_encode

using namespace cuda_encode;

Status store_blocks(const CodeTilesArgs& tiles, const ScriptArgs& args, cudaStream_t stream) {
  const StoreArgs store{args.stored, args.cleared, args.cleared_count};
  const LaunchShape shape{ceil_div(tiles.grid.tiles, std::uint32_t{kWarps}), kThreads, 0,
                          tiles.frames};
  const auto form = tiles.tune != nullptr ? store_blocks_kernel<true> : store_blocks_kernel<false>;
  return ZR_CUDA_STATUS(launch_behind(form, shape, stream, tiles, store));
}

}  // namespace zerorun
