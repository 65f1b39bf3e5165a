// CUDA twin of codec/encode/symbol_histogram.cpp. Each CTA counts in shared memory.
// SPDX-License-Identifier: MIT
#include "codec/encode/symbol_histogram.hpp"

#include <bit>

#include "cuda/base/launch.hpp"
#include "cuda/base/scratch.hpp"

namespace zerorun {
namespace {

constexpr int kThreads = 256;
constexpr int kBins = kEncodeTables * 256;

__global__ void __launch_bounds__(kThreads) symbol_histogram_kernel(SymbolHistogramArgs a) {
  __shared__ std::uint32_t counts[kBins];
  for (int i = static_cast<int>(threadIdx.x); i < kBins; i += kThreads) counts[i] = 0;
  __syncthreads();
  const std::int64_t total = *a.symbol_total;
  const auto* const words = reinterpret_cast<const std::uint32_t*>(a.symbols);  // a load for each
  for (std::int64_t i = grid_thread(); i < total; i += grid_threads()) {
    const auto symbol = std::bit_cast<Symbol>(words[i]);
    atomicAdd(counts + symbol.table * 256 + symbol.rrrrssss, 1u);
  }
  __syncthreads();
  std::uint32_t* out = &a.counts->count[0][0];
  for (int i = static_cast<int>(threadIdx.x); i < kBins; i += kThreads)
    if (counts[i] != 0) atomicAdd(out + i, counts[i]);
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
