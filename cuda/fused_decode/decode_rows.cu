// A thread decodes a row.
// SPDX-License-Identifier: MIT
#include "cuda/fused_decode/decode_rows.hpp"

#include "cuda/check.hpp"
#include "cuda/fused_decode/shared_copy.cuh"
#include "cuda/launch.hpp"

namespace zerorun {
namespace {

constexpr int kThreads = kChunkRows;

constexpr std::uint32_t kWords = padded_place(words_of_rows(kChunkRows)) + 1;

/// Bits count from the CTA's first word.
struct Bits {
  const WordPair* words;
  __device__ std::uint32_t operator()(std::uint32_t bit) const {
    return window_of(words[padded_place(bit / 32)], bit);
  }
};

struct SymbolTables {
  const std::uint32_t* symbols;
  const LongCodes* codes;
  __device__ std::uint32_t symbol(std::uint32_t table, std::uint32_t index) const {
    return symbols[table << kSymbolIndexBits | index];
  }
  __device__ const LongCodes& long_codes(std::uint32_t table) const { return codes[table]; }
};

/// Stores four pairs at once: single words of 32 threads, each in a row of its own, keep the memory
/// pipe so busy that the look-ups wait. A 3848x2168 photo at q90 on an H200: 83 us a frame with
/// single words, 49 with four and tables of 12 bits instead of 11, 43 with 11 again and tables that
/// are copied asynchronously. (Two threads a row gain 0.5 us here and cost sync_rows() 18.)
struct Sink {
  std::uint32_t *pairs, *block_pair;
  std::uint32_t whole_from;  ///< the first four that are the row's own
  std::uint32_t first = 0, second = 0, third = 0;

  __device__ void block_starts(std::uint32_t block, std::uint32_t pair) const {
    block_pair[block] = pair;
  }
  __device__ void put(std::uint32_t index, std::uint32_t word) {
    if (index < whole_from) pairs[index] = word;
    if (index >= whole_from && index % 4 == 3)
      *reinterpret_cast<uint4*>(pairs + index - 3) = {first, second, third, word};
    first = second;
    second = third;
    third = word;
  }
  __device__ void finish(std::uint32_t end) const {
    if (end <= whole_from) return;
    const std::uint32_t left = end % 4;
    if (left >= 1) pairs[end - 1] = third;
    if (left >= 2) pairs[end - 2] = second;
    if (left == 3) pairs[end - 3] = first;
  }
};

extern __shared__ __align__(16) std::uint32_t dynamic_shared[];

/// Of the CTA's shared memory, in words.
constexpr std::uint32_t kBitWords = (2 * kWords + 3) / 4 * 4;
__host__ __device__ constexpr std::uint32_t symbol_words(std::uint32_t pairs) {
  return 2 * pairs << kSymbolIndexBits;
}
__host__ __device__ constexpr std::uint32_t code_words(std::uint32_t pairs) {
  return 2 * pairs * static_cast<std::uint32_t>(sizeof(LongCodes) / 4);
}

__device__ SymbolTables load_tables(const DecodeRowsArgs& a, std::uint32_t* to) {
  const std::uint32_t pairs = a.pairs_of.pairs, symbols = symbol_words(pairs);
  copy_words<kThreads>(a.tables->symbol[kDcSide], to, symbols / 2);
  copy_words<kThreads>(a.tables->symbol[kAcSide], to + symbols / 2, symbols / 2);
  std::uint32_t* const codes = to + symbols;
  copy_codes<kThreads>(*a.tables, pairs, codes);
  return {to, reinterpret_cast<const LongCodes*>(codes)};
}

/// Decodes the row and checks that it ends where the next one begins; returns faults. Bits count
/// from `origin`.
__device__ std::uint32_t decode(const DecodeRowsArgs& a, const SymbolTables& tables,
                                const Bits& bits, std::uint32_t origin, const RowStart* row) {
  const RowStart own = *row;
  if (own.end == 0) return 0;
  const std::uint64_t before = a.chunk_first[blockIdx.x];
  RowTarget target{blocks_of(before) + own.block, pairs_of(before) + own.pair};
  // An interval's number of blocks is proven at both ends: it may have twice as many, and the next
  // one none at all.
  if (own.is_first && own.interval * a.interval_blocks != target.block) return kFaultCount;
  const std::uint32_t stop = own.is_last ? own.end : row[1].bit;
  const RowSpan span{stop - origin, own.end - origin};
  std::uint32_t bit = own.bit - origin, phase = own.phase, k = own.k;
  const std::uint32_t faults =
      decode_row(bits, tables, a.pairs_of, span, target,
                 Sink{a.pairs, a.block_pair, (target.pair + 3) / 4 * 4}, bit, phase, k);
  if (own.is_last) {
    const std::uint32_t blocks = min((own.interval + 1) * a.interval_blocks, a.blocks);
    const bool whole = k == 0 && target.block == blocks && bit + 8 > span.end;
    return faults | (whole ? 0 : kFaultCount);
  }
  const bool meets = bit == span.stop && phase == row[1].phase && k == row[1].k;
  return faults | (meets ? 0 : kFaultSync);
}

__global__ void __launch_bounds__(kThreads)
    decode_rows_kernel(const __grid_constant__ DecodeRowsArgs a) {
  auto* const words = reinterpret_cast<WordPair*>(dynamic_shared);
  const SymbolTables tables = load_tables(a, dynamic_shared + kBitWords);
  wait_for_previous_kernel();
  // Faults of this kernel, too: the pairs are of no use then.
  const bool given_up = __syncthreads_or(a.summary->faults != 0);
  const std::uint32_t first_word = given_up ? kNoWord : a.chunk_word[blockIdx.x];
  if (first_word == kNoWord) {
    wait_for_copies();
    return;
  }
  copy_word_pairs<kThreads>(a.words, a.word_count, first_word, words_of_rows(kChunkRows), words);
  wait_for_copies();
  __syncthreads();
  const std::uint32_t faults = decode(a, tables, Bits{words}, first_word * 32,
                                      a.rows + blockIdx.x * kChunkRows + threadIdx.x);
  if (faults != 0) atomicOr(&a.summary->faults, faults);
}

std::size_t shared_bytes(std::uint32_t pairs) {
  return sizeof(std::uint32_t) * (kBitWords + symbol_words(pairs) + code_words(pairs));
}

}  // namespace

Status prepare_decode_rows() {
  ZR_CUDA_TRY(cudaFuncSetAttribute(decode_rows_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(shared_bytes(kMaxTablePairs))));
  ZR_CUDA_TRY(cudaFuncSetAttribute(decode_rows_kernel,
                                   cudaFuncAttributePreferredSharedMemoryCarveout,
                                   cudaSharedmemCarveoutMaxShared));
  return Status::ok();
}

Status decode_rows(const DecodeRowsArgs& args, cudaStream_t stream) {
  ZR_CUDA_TRY(launch_behind(decode_rows_kernel,
                            LaunchShape{args.chunks, kThreads, shared_bytes(args.pairs_of.pairs)},
                            stream, args));
  return Status::ok();
}

}  // namespace zerorun
