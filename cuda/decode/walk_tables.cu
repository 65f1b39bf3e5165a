// Each thread computes an entry of each of the fast decoder's tables.
// SPDX-License-Identifier: MIT
#include "cuda/decode/walk_scan.hpp"

#include <algorithm>

#include "cuda/base/check.hpp"
#include "cuda/base/launch.hpp"

namespace zerorun {
namespace {

constexpr int kThreads = 128;

/// By all threads.
__device__ void copy_by_words(const HuffmanDecodeTable& from, HuffmanDecodeTable& to) {
  static_assert(sizeof from % sizeof(std::uint32_t) == 0 && alignof(HuffmanDecodeTable) == 4);
  for (std::uint32_t i = threadIdx.x; i < sizeof from / 4; i += kThreads)
    reinterpret_cast<std::uint32_t*>(&to)[i] = reinterpret_cast<const std::uint32_t*>(&from)[i];
}

/// The codes come with the launch: when the host sent a table for each, a picture of 1920x1080 with
/// tables of its own took 98 us instead of 77 (70 with those of the picture before; H200).
__global__ void __launch_bounds__(kThreads)
    walk_tables_kernel(const __grid_constant__ WalkCodes codes, WalkTables* tables) {
  __shared__ HuffmanDecodeTable source[2];
  const int side = static_cast<int>(blockIdx.y), pair = static_cast<int>(blockIdx.z);
  const std::uint32_t thread = threadIdx.x;
  if (thread % 32 == 0 && thread / 32 < 2)
    fill_lengths(codes.of[thread / 32][pair], source[thread / 32]);
  for (std::uint32_t i = thread; i < 2 * 256; i += kThreads)
    source[i / 256].values[i % 256] = codes.of[i / 256][pair].values[i % 256];
  __syncthreads();
#pragma unroll 4
  for (std::uint32_t i = thread; i < 2u << kLookupBits; i += kThreads) {
    HuffmanDecodeTable& table = source[i >> kLookupBits];
    const std::uint32_t prefix = i & ((1u << kLookupBits) - 1);
    table.lookup[prefix] = lookup_entry(table, prefix);
  }
  __syncthreads();
  const HuffmanDecodeTable &own = source[side], &dc = source[kDcSide], &ac = source[kAcSide];
  if (blockIdx.x == 0) copy_by_words(own, tables->source[side][pair]);
  const std::uint32_t index = blockIdx.x * kThreads + thread;
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

Status make_walk_tables(const WalkCodes& codes, int pairs, WalkTables* tables,
                        cudaStream_t stream) {
  constexpr unsigned kEntries =
      std::max({1u << kSkipBits, 1u << kSymbolIndexBits, unsigned{kLongSymbols}});
  static_assert(kEntries % kThreads == 0);
  const dim3 grid(kEntries / kThreads, 2, static_cast<unsigned>(pairs));
  walk_tables_kernel<<<grid, kThreads, 0, stream>>>(codes, tables);
  ZR_LAUNCH_TRY("walk_tables_kernel");
  return Status::ok();
}

}  // namespace zerorun
