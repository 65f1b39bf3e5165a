// Decoding table of a codebook, built by one CTA. Serial twin: codec/entropy/variable_length.cpp.
// SPDX-License-Identifier: MIT
#include "cuda/entropy/vld_table.cuh"

namespace zerorun::cuda_entropy {
namespace {

constexpr int kThreads = kSymbols;

/// The first window after all those that begin with sorted codeword i.
__device__ std::uint64_t end_of(const CodewordList& list, int i) {
  return std::uint64_t{list.first[i]} + (std::uint64_t{1} << (32 - list.bits[i]));
}

/// The thread's codeword, in the order of their bits.
struct Codeword {
  bool exists;
  std::uint32_t first;
  unsigned bits;
  std::uint16_t entry;

  __device__ unsigned prefix() const { return first >> (32 - kFastBits); }
};

/// Stores the entry for every index that begins with the `bits` bits at the front of `first`.
__device__ void fill(std::uint16_t* table, int index_bits, std::uint32_t first, unsigned bits,
                     std::uint16_t entry) {
  const std::uint32_t begin = first >> (32 - index_bits);
  const std::uint32_t entries = 1u << (static_cast<unsigned>(index_bits) - bits);
  for (std::uint32_t i = 0; i < entries; ++i) table[begin + i] = entry;
}

/// Numbers the prefixes that several longer codewords share, and fills their tables. All threads.
__device__ void fill_long(DecodeTable& table, const Codeword& own) {
  __shared__ std::uint32_t numbers[kThreads / 32];
  const unsigned rank = threadIdx.x, lane = rank % 32, own_warp = rank / 32;
  const bool is_long = own.exists && own.bits > kFastBits;
  const bool leads = is_long && (rank == 0 || table.list.bits[rank - 1] <= kFastBits ||
                                 table.list.first[rank - 1] >> (32 - kFastBits) != own.prefix());
  const unsigned leaders = __ballot_sync(kFullWarp, leads);
  if (lane == 0) numbers[own_warp] = static_cast<unsigned>(__popc(leaders));
  __syncthreads();
  unsigned number = static_cast<unsigned>(__popc(leaders & ((2u << lane) - 1))) - 1;
  for (unsigned warp = 0; warp < own_warp; ++warp) number += numbers[warp];
  // `number` is that of the last leader up to this codeword, which has the same prefix.
  if (!is_long || number >= kMoreTables) return;
  table.fast[own.prefix()] = static_cast<std::uint16_t>(number);
  if (own.bits <= kFastBits + kMoreBits)
    fill(table.list.more[number], kMoreBits, own.first << kFastBits, own.bits - kFastBits,
         own.entry);
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
  table.list.first[symbol] = 0;
  table.list.bits[symbol] = 0;
  table.list.symbol[symbol] = 0;
  const bool wide = __syncthreads_or(too_wide) != 0;
  const int codewords = __syncthreads_count(used);

  if (used) {
    int rank = 0;
    for (int other = 0; other < kSymbols; ++other)
      rank += bits[other] != 0 &&
              (first[other] < first[symbol] || (first[other] == first[symbol] && other < symbol));
    table.list.first[rank] = first[symbol];
    table.list.bits[rank] = bits[symbol];
    table.list.symbol[rank] = static_cast<std::uint8_t>(symbol);
  }
  __syncthreads();
  const bool overlaps =
      symbol > 0 && symbol < codewords && table.list.first[symbol] < end_of(table.list, symbol - 1);
  const bool usable = __syncthreads_or(overlaps) == 0 && !wide;
  if (symbol == 0) {
    table.list.codewords = usable ? static_cast<std::uint32_t>(codewords) : 0;
    table.list.usable = usable;
    if (!usable) report_fault(outcome, 0, Errc::invalid_argument);
  }
  for (unsigned i = threadIdx.x; i < 1u << kFastBits; i += kThreads) table.fast[i] = kMoreTables;
  for (unsigned i = threadIdx.x; i < kMoreTables << kMoreBits; i += kThreads)
    table.list.more[i >> kMoreBits][i % (1u << kMoreBits)] = 0;
  __syncthreads();
  // A codeword of at most kFastBits fills its entries; those of a prefix code do not overlap.
  const Codeword own{
      usable && symbol < codewords, table.list.first[symbol], table.list.bits[symbol],
      static_cast<std::uint16_t>(table.list.bits[symbol] << 8 | table.list.symbol[symbol])};
  if (own.exists && own.bits <= kFastBits)
    fill(table.fast, kFastBits, own.first, own.bits, own.entry);
  fill_long(table, own);
  __syncthreads();
  load_table(&table, *out);
}

__global__ void __launch_bounds__(kThreads)
    build_counts_kernel(const DecodeTable* table, CountTable* out) {
  const unsigned window = blockIdx.x * kThreads + threadIdx.x;
  const unsigned fast = table->fast[window], first = fast >> 8;
  unsigned bits = first, codewords = 1;
  // The bits behind the window count as zeros: a codeword within it does not depend on them.
  while (first != 0 && bits < kFastBits) {
    const unsigned length = table->fast[(window << bits) % (1u << kFastBits)] >> 8;
    if (length == 0 || bits + length > kFastBits) break;
    bits += length;
    ++codewords;
  }
  const unsigned counts = (16 + first) << 8 | (16 * codewords + bits);
  out->of[window] = static_cast<std::uint16_t>(first == 0 ? fast : counts);
}

}  // namespace

Status build_decode_table(const Codebook* d_book, DecodeTable* d_table, Outcome* d_outcome,
                          cudaStream_t stream) {
  ZR_LAUNCH(build_table_kernel, 1, kThreads, stream, d_book, d_table, d_outcome);
  return Status::ok();
}

Status build_count_table(const DecodeTable* d_table, CountTable* d_counts, cudaStream_t stream) {
  static_assert((1 << kFastBits) % kThreads == 0);
  ZR_LAUNCH(build_counts_kernel, (1 << kFastBits) / kThreads, kThreads, stream, d_table, d_counts);
  return Status::ok();
}

}  // namespace zerorun::cuda_entropy
