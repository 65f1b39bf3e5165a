// PSNR-HVS-M: 64 threads take a block of both pictures, a CTA four of them at a time.
// SPDX-License-Identifier: MIT
#include <algorithm>

#include "apps/bench/quality/cuda/add_up.cuh"
#include "apps/bench/quality/cuda/hvs_pair.hpp"
#include "apps/bench/quality/cuda/kernels.hpp"

namespace zerorun::rd {
namespace {

constexpr int kBlocksOfCta = kSumThreads / 64;
constexpr int kTableValues = sizeof(HvsTables) / sizeof(double);

/// `shared` is whole after the next barrier.
__device__ void copy_tables(const HvsTables* tables, HvsTables& shared) {
  const auto* const from = reinterpret_cast<const double*>(tables);
  auto* const to = reinterpret_cast<double*>(&shared);
  for (int i = static_cast<int>(threadIdx.x); i < kTableValues; i += kSumThreads) to[i] = from[i];
}

/// `across` blocks in a row, `blocks` in all. A step that a barrier does not part from the load of
/// the next blocks, error_at(), reads no samples.
__global__ void __launch_bounds__(kSumThreads)
    masked_kernel(PlanePair luma, const HvsTables* from, int across, int blocks, double* partial) {
  __shared__ HvsTables tables;
  __shared__ HvsPair pairs[kBlocksOfCta];
  const int k = static_cast<int>(threadIdx.x) % 64, own = static_cast<int>(threadIdx.x) / 64;
  HvsPair& pair = pairs[own];
  copy_tables(from, tables);
  double sum[1] = {0};
  const int step = static_cast<int>(gridDim.x) * kBlocksOfCta;
  for (int first = static_cast<int>(blockIdx.x) * kBlocksOfCta; first < blocks; first += step) {
    const int block = first + own;
    const bool is_there = block < blocks;
    if (is_there) load_pair(pair, luma, block % across * kHvsStep, block / across * kHvsStep, k);
    __syncthreads();
    if (is_there) transform_rows(pair, tables, k);
    __syncthreads();
    if (is_there) transform_columns(pair, tables, k);
    __syncthreads();
    if (is_there) find_parts(pair, tables, k);
    __syncthreads();
    if (is_there) sum[0] += error_at(pair, tables, k);
  }
  add_up(sum, partial + blockIdx.x, 0);
}

}  // namespace

Status add_masked(const PlanePair& luma, const HvsTables* tables, const PartialSums& partial,
                  double* out) {
  constexpr int kMostCtas = 8192;  // a constant, as in sums.cu
  const int across = hvs_blocks(luma.width), blocks = across * hvs_blocks(luma.height);
  if (blocks == 0) return Status::ok();
  const int ctas = std::min((blocks + kBlocksOfCta - 1) / kBlocksOfCta, kMostCtas);
  masked_kernel<<<static_cast<unsigned>(ctas), kSumThreads, 0, partial.stream>>>(
      luma, tables, across, blocks, partial.data);
  ZR_TRY(launched("masked_kernel"));
  return add_partials(partial, 1, ctas, out);
}

}  // namespace zerorun::rd
