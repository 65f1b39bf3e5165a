// CUDA twin of codec/encode/symbol_histogram.cpp. Each CTA counts in shared memory.
// SPDX-License-Identifier: MIT
#include "codec/encode/symbol_histogram.hpp"

#include "cuda/base/launch.hpp"
#include "cuda/base/scratch.hpp"
#include "cuda/base/symbol_word.cuh"

namespace zerorun {
namespace {

constexpr int kThreads = 256;
constexpr int kBins = kEncodeTables * 256;
// Most symbols are EOB or small AC symbols: with a copy for every two warps fewer threads meet at
// one counter.
constexpr int kCopies = 4;

__global__ void __launch_bounds__(kThreads) symbol_histogram_kernel(SymbolHistogramArgs a) {
  __shared__ std::uint32_t counts[kCopies][kBins];
  for (int i = static_cast<int>(threadIdx.x); i < kCopies * kBins; i += kThreads)
    counts[i / kBins][i % kBins] = 0;
  __syncthreads();
  std::uint32_t* own = counts[threadIdx.x / 32 % kCopies];
  const std::int64_t total = *a.symbol_total;
  const std::int64_t step = std::int64_t{gridDim.x} * kThreads;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; i < total; i += step) {
    const Symbol symbol = load_symbol(a.symbols + i);
    atomicAdd(own + symbol.table * 256 + symbol.rrrrssss, 1u);
  }
  __syncthreads();
  std::uint32_t* out = &a.counts->count[0][0];
  for (int bin = static_cast<int>(threadIdx.x); bin < kBins; bin += kThreads) {
    std::uint32_t sum = 0;
#pragma unroll
    for (int copy = 0; copy < kCopies; ++copy) sum += counts[copy][bin];
    if (sum != 0) atomicAdd(out + bin, sum);
  }
}

}  // namespace

Status symbol_histogram_cuda(const SymbolHistogramArgs& a, Exec& exec) {
  if (a.symbol_capacity == 0) return Status::ok();
  // Each CTA clears and adds up its bins, which many symbols a thread have to pay for.
  constexpr std::int64_t kSymbolsPerCta = 16 * kThreads;
  ZR_LAUNCH(symbol_histogram_kernel, grid_size(a.symbol_capacity, kSymbolsPerCta, kManyCtas / 4),
            kThreads, stream_of(exec), a);
  return Status::ok();
}

}  // namespace zerorun
