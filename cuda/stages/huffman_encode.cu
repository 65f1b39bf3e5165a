// CUDA twin of codec/encode/huffman_encode.cpp. Each CTA has the code tables in shared memory.
// SPDX-License-Identifier: MIT
#include "codec/encode/huffman_encode.hpp"

#include <bit>

#include "cuda/base/launch.hpp"
#include "cuda/base/scratch.hpp"

namespace zerorun {
namespace {

constexpr int kThreads = 256;
constexpr int kEntries = kEncodeTables * 256;

__global__ void __launch_bounds__(kThreads) huffman_encode_kernel(HuffmanEncodeArgs a) {
  // Code and length of up to 16 bits fit one word: code << 8 | length.
  __shared__ std::uint32_t table[kEntries];
  const std::uint32_t* code = &a.tables->code[0][0];
  const std::uint8_t* bits = &a.tables->bits[0][0];
  for (int i = static_cast<int>(threadIdx.x); i < kEntries; i += kThreads)
    table[i] = code[i] << 8 | bits[i];
  __syncthreads();
  const std::int64_t total = *a.symbol_total;
  const auto* const words = reinterpret_cast<const std::uint32_t*>(a.symbols);  // a load for each
  for (std::int64_t i = grid_thread(); i < total; i += grid_threads()) {
    const auto symbol = std::bit_cast<Symbol>(words[i]);
    const std::uint32_t entry = table[symbol.table * 256 + symbol.rrrrssss];
    const int ssss = symbol.rrrrssss & 15;
    a.code[i] = entry >> 8 << ssss | symbol.appended;
    a.code_bits[i] = static_cast<std::uint8_t>((entry & 0xFF) + static_cast<std::uint32_t>(ssss));
  }
}

}  // namespace

Status huffman_encode_cuda(const HuffmanEncodeArgs& a, Exec& exec) {
  if (a.symbol_capacity == 0) return Status::ok();
  constexpr std::int64_t kSymbolsPerCta = 8 * kThreads;  // worth loading 1024 table entries
  ZR_LAUNCH(huffman_encode_kernel, grid_size(a.symbol_capacity, kSymbolsPerCta, kManyCtas),
            kThreads, stream_of(exec), a);
  return Status::ok();
}

}  // namespace zerorun
