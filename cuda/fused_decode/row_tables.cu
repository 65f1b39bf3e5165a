// Every entry of the fused decoder's tables by a thread of its own.
// SPDX-License-Identifier: MIT
#include "cuda/fused_decode/row_tables.hpp"

#include "cuda/check.hpp"
#include "cuda/launch.hpp"

namespace zerorun {
namespace {

constexpr int kThreads = 128;

__global__ void __launch_bounds__(kThreads) row_tables_kernel(RowTables* tables) {
  const int side = static_cast<int>(blockIdx.y), pair = static_cast<int>(blockIdx.z);
  const HuffmanDecodeTable& own = tables->source[side][pair];
  const std::uint32_t index = blockIdx.x * kThreads + threadIdx.x;
  if (index < (1u << kSymbolIndexBits)) {
    const DecodedSymbol symbol = decode_symbol(own, index << (kMaxCodeBits - kSymbolIndexBits));
    const bool fits = symbol.bits != 0 && symbol.bits <= kSymbolIndexBits;
    tables->symbol[side][pair][index] = fits ? symbol_of(symbol, side) : 0;
  }
  if (index < (1u << kSkipBits))
    tables->skip[side][pair][index] =
        skip_entry(tables->source[kDcSide][pair], tables->source[kAcSide][pair], side, index);
  LongCodes& codes = tables->long_codes[side][pair];
  if (index < kMaxCodeBits + 2) codes.limit[index] = own.limit[index];
  if (index < kMaxCodeBits + 1) codes.value_offset[index] = own.value_offset[index];
  if (index < 256) codes.values[index] = own.values[index];
}

}  // namespace

Status make_row_tables(RowTables* tables, int pairs, cudaStream_t stream) {
  constexpr unsigned kEntries = 1u << (kSkipBits > kSymbolIndexBits ? kSkipBits : kSymbolIndexBits);
  const dim3 grid(kEntries / kThreads, 2, static_cast<unsigned>(pairs));
  row_tables_kernel<<<grid, kThreads, 0, stream>>>(tables);
  ZR_LAUNCH_TRY("row_tables_kernel");
  return Status::ok();
}

}  // namespace zerorun
