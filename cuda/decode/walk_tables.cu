// Each thread computes an entry of each of the fast decoder's tables.
// SPDX-License-Identifier: MIT
#include "cuda/decode/walk_scan.hpp"

#include <algorithm>

#include "cuda/base/check.hpp"
#include "cuda/base/launch.hpp"

namespace zerorun {
namespace {

constexpr int kThreads = 128;

__global__ void __launch_bounds__(kThreads) walk_tables_kernel(WalkTables* tables) {
  const int side = static_cast<int>(blockIdx.y), pair = static_cast<int>(blockIdx.z);
  const HuffmanDecodeTable& own = tables->source[side][pair];
  const std::uint32_t index = blockIdx.x * kThreads + threadIdx.x;
  const HuffmanDecodeTable& dc = tables->source[kDcSide][pair];
  const HuffmanDecodeTable& ac = tables->source[kAcSide][pair];
  if (index < (1u << kSymbolIndexBits))
    tables->symbol[side][pair][index] = symbol_entry(dc, ac, side, index);
  if (index < (1u << kSkipBits)) tables->skip[side][pair][index] = skip_entry(dc, ac, side, index);
  if (index < kLongSymbols)
    tables->long_symbol[side][pair][index] = symbol_of(decode_symbol(own, 0xFFFF - index), side);
  if (side == kAcSide && index < kLastCodes) {
    tables->last_step[pair][index] = make_last_step(own, index);
    tables->last_symbol[pair][index] = make_last_symbol(own, index);
  }
}

}  // namespace

Status make_walk_tables(WalkTables* tables, int pairs, cudaStream_t stream) {
  constexpr unsigned kEntries =
      std::max({1u << kSkipBits, 1u << kSymbolIndexBits, unsigned{kLongSymbols}});
  static_assert(kEntries % kThreads == 0);
  const dim3 grid(kEntries / kThreads, 2, static_cast<unsigned>(pairs));
  walk_tables_kernel<<<grid, kThreads, 0, stream>>>(tables);
  ZR_LAUNCH_TRY("walk_tables_kernel");
  return Status::ok();
}

}  // namespace zerorun
