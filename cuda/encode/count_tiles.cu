// Samples -> how many there are of each symbol: what coding them would take, without coding them.
// SPDX-License-Identifier: MIT
#include "cuda/base/architecture.cuh"
#include "cuda/base/check.hpp"
#include "cuda/base/launch.hpp"
#include "cuda/encode/code_tiles.hpp"
#include "cuda/encode/count_tile.cuh"

namespace zerorun {
namespace cuda_encode {
namespace {

template <bool kTuned>
__global__ void __launch_bounds__(kThreads, bounded_ctas(kCountTilesCtas, kThreads, sizeof(Shared)))
    count_tiles_kernel(const __grid_constant__ CodeTilesArgs a, SymbolCounts* counts) {
  __shared__ Shared s;
  WarpShared& w = s.of_warp[warp_index()];
  const std::uint32_t number = tile_number();
  clear_counts(s);
  const Lane lane(a, number);
  wait_for_previous_kernel();
  if constexpr (kTuned) fetch_rules(*a.tune);
  fetch_by_cta(s.reciprocals, a.reciprocals);
  Coefficients c;
  const Coded b = transform_rows_of_tile<false, kTuned>(a, s, lane, a.tune, c);
  wait_for_fetched();
  if (number < a.grid.tiles) count_tile<kTuned>(s, w, b, c);
  __syncthreads();
  add_counts(s, counts + blockIdx.y);
}

}  // namespace
}  // namespace cuda_encode

Status count_tiles(const CodeTilesArgs& args, SymbolCounts* counts, cudaStream_t stream) {
  using namespace cuda_encode;
  const LaunchShape shape{ceil_div(args.grid.tiles, std::uint32_t{kWarps}), kThreads, 0,
                          args.frames};
  const auto form = args.tune != nullptr ? count_tiles_kernel<true> : count_tiles_kernel<false>;
  ZR_CUDA_TRY(launch_behind(form, shape, stream, args, counts));
  return Status::ok();
}

}  // namespace zerorun
