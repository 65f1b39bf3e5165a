// Each thread computes an entry of one kind of the GPU decoder's code tables.
// SPDX-License-Identifier: MIT
#include "cuda/decode/scan_kernels.hpp"

#include <algorithm>

#include "cuda/base/check.hpp"

namespace zerorun {
namespace {

/// Photos of 1924x1084 with optimal tables of their own, one of eight: 22.8 us; 23.1 with 256
/// (H200).
constexpr int kThreads = 512;
/// Parts that CTAs make for a side and a pair of tables.
enum Part : unsigned { kSymbols, kSkips, kLongCodewords, kParts };

/// By all threads.
template <typename T>
__device__ void copy_by_words(const T& from, T& to) {
  static_assert(sizeof from % sizeof(std::uint32_t) == 0 && alignof(T) % 4 == 0);
  for (std::uint32_t i = threadIdx.x; i < sizeof from / 4; i += kThreads)
    reinterpret_cast<std::uint32_t*>(&to)[i] = reinterpret_cast<const std::uint32_t*>(&from)[i];
}

/// The source of the tables comes with the launch. A picture of 1920x1080 with tables of its own
/// takes 77 us so, and 70 with those of the picture before (H200).
__global__ void __launch_bounds__(kThreads)
    scan_tables_kernel(const __grid_constant__ ScanTablesSource from, WalkTables* tables,
                       ScanSteps* steps) {
  if (blockIdx.x + blockIdx.y + blockIdx.z == 0) copy_by_words(from.steps, *steps);
  if (tables == nullptr) return;
  const WalkCodes& codes = from.codes;
  __shared__ HuffmanDecodeTable source[2];
  const int side = static_cast<int>(blockIdx.y % 2), pair = static_cast<int>(blockIdx.z);
  const unsigned part = blockIdx.y / 2;
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
  const std::uint32_t index = blockIdx.x * kThreads + thread;
  if (part == kSymbols) {
    if (index < (1u << kSymbolIndexBits))
      tables->symbol[side][pair][index] = symbol_entry(dc, ac, side, index);
  } else if (part == kSkips) {
    if (index < (1u << kSkipBits))
      tables->skip[side][pair][index] = skip_entry(dc, ac, side, index);
  } else {
    if (blockIdx.x == 0) copy_by_words(own, tables->source[side][pair]);
    if (index < kLongSymbols)
      tables->long_symbol[side][pair][index] = symbol_of(decode_symbol(own, 0xFFFF - index), side);
  }
}

}  // namespace

Status make_scan_tables(const ScanTablesSource& from, int pairs, WalkTables* tables,
                        ScanSteps* steps, cudaStream_t stream) {
  constexpr unsigned kEntries =
      std::max({1u << kSkipBits, 1u << kSymbolIndexBits, unsigned{kLongSymbols}});
  static_assert(kEntries % kThreads == 0);
  const dim3 grid =
      pairs == 0 ? dim3(1) : dim3(kEntries / kThreads, 2 * kParts, static_cast<unsigned>(pairs));
  scan_tables_kernel<<<grid, kThreads, 0, stream>>>(from, pairs == 0 ? nullptr : tables, steps);
  ZR_LAUNCH_TRY("scan_tables_kernel");
  return Status::ok();
}

}  // namespace zerorun
