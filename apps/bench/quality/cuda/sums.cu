// Squared differences of luma, and the sums of what CTAs have added up.
// SPDX-License-Identifier: MIT
#include <algorithm>

#include "apps/bench/quality/cuda/add_up.cuh"
#include "apps/bench/quality/cuda/kernels.hpp"

namespace zerorun::rd {
namespace {

/// Enough to fill any GPU of today. A constant: it decides the order of additions, and so the last
/// bit of a sum, on every GPU.
constexpr std::int64_t kMostCtas = 1024;

__global__ void __launch_bounds__(kSumThreads)
    squares_kernel(const float* a, const float* b, std::int64_t samples, double* partial) {
  double sum[1] = {0};
  const std::int64_t step = std::int64_t{gridDim.x} * kSumThreads;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kSumThreads + threadIdx.x; i < samples;
       i += step) {
    const double d = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum[0] += d * d;
  }
  add_up(sum, partial + blockIdx.x, 0);
}

/// A CTA for each value.
__global__ void __launch_bounds__(kSumThreads)
    add_partials_kernel(const double* partial, std::int64_t count, double* out) {
  const double* const row = partial + blockIdx.x * count;
  double sum[1] = {0};
  for (std::int64_t i = threadIdx.x; i < count; i += kSumThreads) sum[0] += row[i];
  add_up(sum, out + blockIdx.x, 0);
}

}  // namespace

Status add_squares(const PlanePair& luma, const PartialSums& partial, double* out) {
  const std::int64_t samples = std::int64_t{luma.width} * luma.height;
  const std::int64_t ctas = std::min((samples + kSumThreads - 1) / kSumThreads, kMostCtas);
  squares_kernel<<<static_cast<unsigned>(ctas), kSumThreads, 0, partial.stream>>>(
      luma.a, luma.b, samples, partial.data);
  ZR_TRY(launched("squares_kernel"));
  return add_partials(partial, 1, ctas, out);
}

Status add_partials(const PartialSums& partial, int values, std::int64_t count, double* out) {
  add_partials_kernel<<<static_cast<unsigned>(values), kSumThreads, 0, partial.stream>>>(
      partial.data, count, out);
  return launched("add_partials_kernel");
}

}  // namespace zerorun::rd
