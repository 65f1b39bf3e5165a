// Decoding table of a codebook, built by one CTA. Serial twin: codec/entropy/variable_length.cpp.
// SPDX-License-Identifier: MIT
#include "cuda/entropy/vld_table.cuh"

namespace zerorun::cuda_entropy {
namespace {

constexpr int kThreads = kSymbols;

/// The first window after all those that begin with sorted codeword i.
__device__ std::uint64_t end_of(const DecodeTable& table, int i) {
  return std::uint64_t{table.first[i]} + (std::uint64_t{1} << (32 - table.bits[i]));
}

__global__ void __launch_bounds__(kThreads)
    build_table_kernel(const Codebook* book, DecodeTable* out, Outcome* outcome) {
  __shared__ DecodeTable table;
  __shared__ std::uint32_t first[kSymbols];
  __shared__ std::uint8_t bits[kSymbols];
  const int symbol = static_cast<int>(threadIdx.x);
  const unsigned length = book->bits[symbol];
  const std::uint32_t value = book->value[symbol];
  const bool too_wide =
      length > entropy::kMaxCodeBits || (length != 0 && length < 32 && value >> length != 0);
  const bool used = length != 0 && !too_wide;
  first[symbol] = used ? value << (32 - length) : 0;
  bits[symbol] = static_cast<std::uint8_t>(used ? length : 0);
  table.first[symbol] = 0;
  table.bits[symbol] = 0;
  table.symbol[symbol] = 0;
  const bool wide = __syncthreads_or(too_wide) != 0;
  const int codewords = __syncthreads_count(used);

  if (used) {
    int rank = 0;
    for (int other = 0; other < kSymbols; ++other)
      rank += bits[other] != 0 &&
              (first[other] < first[symbol] || (first[other] == first[symbol] && other < symbol));
    table.first[rank] = first[symbol];
    table.bits[rank] = bits[symbol];
    table.symbol[rank] = static_cast<std::uint8_t>(symbol);
  }
  __syncthreads();
  const bool overlaps =
      symbol > 0 && symbol < codewords && table.first[symbol] < end_of(table, symbol - 1);
  const bool usable = __syncthreads_or(overlaps) == 0 && !wide;
  if (symbol == 0) {
    table.codewords = usable ? static_cast<std::uint32_t>(codewords) : 0;
    table.usable = usable;
    if (!usable) report_fault(outcome, 0, Errc::invalid_argument);
  }
  for (unsigned i = threadIdx.x; i < 1u << kFastBits; i += kThreads) table.fast[i] = 0;
  __syncthreads();
  // Each short codeword fills its entries; those of a prefix code do not overlap.
  const unsigned own_bits = table.bits[symbol];
  if (usable && symbol < codewords && own_bits <= kFastBits) {
    const unsigned begin = table.first[symbol] >> (32 - kFastBits);
    for (unsigned i = 0; i < 1u << (kFastBits - own_bits); ++i)
      table.fast[begin + i] = static_cast<std::uint16_t>(own_bits << 8 | table.symbol[symbol]);
  }
  __syncthreads();
  load_table(&table, *out);
}

}  // namespace

Status build_decode_table(const Codebook* d_book, DecodeTable* d_table, Outcome* d_outcome,
                          cudaStream_t stream) {
  ZR_LAUNCH(build_table_kernel, 1, kThreads, stream, d_book, d_table, d_outcome);
  return Status::ok();
}

}  // namespace zerorun::cuda_entropy
