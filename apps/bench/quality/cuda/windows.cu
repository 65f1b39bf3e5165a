// SSIM of luma and the errors of SSIMULACRA2: a CTA blurs a tile of both pictures and adds up what
// its samples have. Nothing that is blurred goes to memory.
// SPDX-License-Identifier: MIT
#include <algorithm>

#include "apps/bench/quality/cuda/add_up.cuh"
#include "apps/bench/quality/cuda/kernels.hpp"

namespace zerorun::rd {
namespace {

static_assert(kTileThreads == kSumThreads);

/// SSIM has windows that lie inside.
struct Similarity {
  static constexpr int kMargin = kBlurRadius, kValues = 2, kComponents = 1;
  SsimSums sums;
  __device__ void add(const Moments& at) { add_ssim(at, sums); }
  __device__ void get(double (&out)[kValues]) const {
    out[0] = sums.structure, out[1] = sums.whole;
  }
};
static_assert(sizeof(SsimSums) == Similarity::kValues * sizeof(double));

struct FeatureErrors {
  static constexpr int kMargin = 0, kValues = 6, kComponents = 3;
  FeatureSums sums;
  __device__ void add(const Moments& at) { add_features(at, sums); }
  __device__ void get(double (&out)[kValues]) const {
    const ErrorSums kinds[3] = {sums.structure, sums.artefact, sums.lost};
#pragma unroll
    for (int i = 0; i < 3; ++i) out[2 * i] = kinds[i].sum, out[2 * i + 1] = kinds[i].fourth;
  }
};
static_assert(sizeof(FeatureSums) == FeatureErrors::kValues * sizeof(double));

/// CTA x makes the tile x, of the component that y says.
template <typename Kind>
__global__ void __launch_bounds__(kTileThreads)
    windows_kernel(PlanePair planes, const __grid_constant__ BlurTaps taps, int tiles_across,
                   double* partial) {
  __shared__ WindowTile tile;
  const int thread = static_cast<int>(threadIdx.x), number = static_cast<int>(blockIdx.x);
  const int x0 = number % tiles_across * kTileWidth, y0 = number / tiles_across * kTileHeight;
  const std::int64_t plane = std::int64_t{planes.width} * planes.height * blockIdx.y;
  planes.a += plane;
  planes.b += plane;
  load_window(tile, planes, x0, y0, thread);
  __syncthreads();
  blur_window_rows(tile, taps, thread);
  __syncthreads();
  Kind kind;
  const int last_x = planes.width - Kind::kMargin, last_y = planes.height - Kind::kMargin;
  for (int i = thread; i < kTileWidth * kTileHeight; i += kTileThreads) {
    const int x = x0 + i % kTileWidth, y = y0 + i / kTileWidth;
    if (x >= Kind::kMargin && x < last_x && y >= Kind::kMargin && y < last_y)
      kind.add(moments_at(tile, taps, i % kTileWidth, i / kTileWidth));
  }
  double values[Kind::kValues];
  kind.get(values);
  add_up(values, partial + std::int64_t{blockIdx.y} * Kind::kValues * gridDim.x + blockIdx.x,
         gridDim.x);
}

int tiles_across(int width) { return (width + kTileWidth - 1) / kTileWidth; }
int tiles_down(int height) { return (height + kTileHeight - 1) / kTileHeight; }

template <typename Kind>
Status add_windows(const PlanePair& planes, const PartialSums& partial, double* out) {
  const int across = tiles_across(planes.width);
  const auto tiles =
      static_cast<unsigned>(across) * static_cast<unsigned>(tiles_down(planes.height));
  windows_kernel<Kind><<<dim3(tiles, Kind::kComponents), kTileThreads, 0, partial.stream>>>(
      planes, blur_taps(), across, partial.data);
  ZR_TRY(launched("windows_kernel"));
  return add_partials(partial, Kind::kComponents * Kind::kValues, tiles, out);
}

}  // namespace

Status add_similarities(const PlanePair& luma, const PartialSums& partial, double* out) {
  return add_windows<Similarity>(luma, partial, out);
}

Status add_feature_errors(const PlanePair& xyb, const PartialSums& partial, double* out) {
  return add_windows<FeatureErrors>(xyb, partial, out);
}

std::int64_t partial_sums(Size size) {
  constexpr std::int64_t kLeast = 8192;  // the most CTAs of the other kernels
  constexpr int kValues = FeatureErrors::kComponents * FeatureErrors::kValues;
  const std::int64_t tiles = std::int64_t{tiles_across(size.width)} * tiles_down(size.height);
  return std::max(kLeast, tiles * kValues);
}

}  // namespace zerorun::rd
