// Variable-length decode by a chunk index: one thread a chunk. Serial twin: decode_chunks() in
// codec/entropy/variable_length.cpp.
// SPDX-License-Identifier: MIT
#include "cuda/base/launch.hpp"
#include "cuda/entropy/outcome.cuh"
#include "cuda/entropy/vld_streams.cuh"

namespace zerorun::cuda_entropy {
namespace {

constexpr int kThreads = kDecoderThreads;

struct Args {
  const std::uint32_t* in;
  std::uint64_t bits;
  const DecodeTable* table;
  std::uint32_t chunk_symbols;
  const std::uint64_t* offsets;
  std::uint64_t chunks;
  std::uint8_t* out;
  std::uint64_t symbols;
  std::uint32_t* bad_index;  // not 0: the offsets cannot be trusted
  Outcome* outcome;
};

/// Offsets come from outside: no kernel reads where they point before all have been checked.
__global__ void __launch_bounds__(kThreads) check_index_kernel(Args a) {
  const std::uint64_t chunk = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (chunk == 0) a.outcome->count = a.symbols;
  if (chunk >= a.chunks || a.table->list.usable == 0) return;
  if (a.offsets[chunk] <= a.offsets[chunk + 1] && a.offsets[chunk + 1] <= a.bits) return;
  atomicOr(a.bad_index, 1u);
  report_fault(a.outcome, 0, Errc::invalid_argument);
}

/// All threads of the warp decode as many symbols; out is at a multiple of 16. Two neighbours
/// exchange half of what they have, and each stores whole sectors of 32 bytes: half sectors took
/// twice the time.
__device__ void decode_pairs(SymbolReader<kThreads>& reader, std::uint8_t* out,
                             std::uint32_t symbols) {
  const bool is_odd = threadIdx.x % 2 != 0;
  std::uint8_t* even_out = is_odd ? out - symbols + 16 : out;
  std::uint8_t* odd_out = even_out + symbols;
  const auto swapped = [&](unsigned x, unsigned y) {
    return __shfl_xor_sync(kFullWarp, is_odd ? x : y, 1);
  };
  for (std::uint32_t n = 0; n < symbols; n += 32, even_out += 32, odd_out += 32) {
    const auto [a, b] = reader.sector();
    const uint4 c{swapped(a.x, b.x), swapped(a.y, b.y), swapped(a.z, b.z), swapped(a.w, b.w)};
    *reinterpret_cast<uint4*>(even_out) = is_odd ? c : a;
    *reinterpret_cast<uint4*>(odd_out) = is_odd ? b : c;
  }
}

/// Once more with an eye on the end, for the fault and the symbols before it.
__device__ void decode_faulty_chunk(const Args& a, const DecodeTable& table, std::uint64_t begin,
                                    std::uint64_t end, std::uint32_t symbols, std::uint8_t* out) {
  // Only `end` and the number of symbols stop it.
  const auto find = [&](unsigned window) { return find_codeword(table, window); };
  const Stop stop = decode_range(find, a.in, begin, kNoFault, end, symbols,
                                 [&](std::uint8_t symbol) { *out++ = symbol; });
  Errc code = stop.code;
  if (code == Errc::ok && stop.at != end) code = Errc::extraneous_data;
  if (code != Errc::ok) report_fault(a.outcome, stop.at, code, FaultPosition::bits);
}

struct Shared {
  DecodeTable table;
  RingOfWords<kThreads> ring;
};

__global__ void __launch_bounds__(kThreads, decoder_ctas(sizeof(Shared)))
    decode_chunks_kernel(Args a) {
  __shared__ Shared s;
  auto& [table, ring] = s;
  load_table(a.table, table);
  __syncthreads();
  const std::uint64_t chunk = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  const bool exists = chunk < a.chunks;
  if (table.list.usable == 0 || *a.bad_index != 0) return;
  const std::uint64_t begin = exists ? a.offsets[chunk] : 0;
  const std::uint64_t first = chunk * a.chunk_symbols;
  const std::uint64_t left = exists ? a.symbols - first : 0;
  const std::uint32_t symbols =
      left < a.chunk_symbols ? static_cast<std::uint32_t>(left) : a.chunk_symbols;
  std::uint8_t* const out = a.out + first;
  // As if more bits followed: that finds the same symbols as a decoder that knows the end if all
  // bits are codewords and the last one ends there.
  SymbolReader<kThreads> reader(table, ring, a.in, ceil_div(a.bits, std::uint64_t{32}), begin);
  const bool in_pairs = symbols == a.chunk_symbols && symbols % 32 == 0 &&
                        reinterpret_cast<std::uintptr_t>(out) % sizeof(uint4) == 0;
  if (__all_sync(kFullWarp, in_pairs))
    decode_pairs(reader, out, a.chunk_symbols);
  else
    reader.take(symbols, [&](std::uint32_t n, unsigned symbol) {
      out[n] = static_cast<std::uint8_t>(symbol);
    });
  if (!exists) return;
  const std::uint64_t end = a.offsets[chunk + 1];
  if (!reader.is_sound() || reader.position() != end)
    decode_faulty_chunk(a, table, begin, end, symbols, out);
}

}  // namespace

Status decode_chunks(void* d_scratch, std::size_t& scratch_bytes, const std::uint32_t* d_in,
                     std::uint64_t bits, const Codebook* d_book, std::uint32_t chunk_symbols,
                     const std::uint64_t* d_offsets, std::uint8_t* d_out, std::uint64_t symbols,
                     Outcome* d_outcome, cudaStream_t stream) {
  ZR_TRY(check_chunk_symbols(chunk_symbols));
  const std::uint64_t chunks = ceil_div(symbols, chunk_symbols);
  if (ceil_div(chunks, kThreads) > kMaxGrid)
    return Status(Errc::invalid_argument, "at most 2^38 chunks fit a grid");
  CallerScratch scratch(d_scratch);
  DecodeTable* const table = scratch.take<DecodeTable>(1);
  std::uint64_t* const flags = scratch.take<std::uint64_t>(1);
  if (Status status = scratch.settle(scratch_bytes); !status || scratch.measuring()) return status;
  ZR_TRY(reset(flags, 1, d_outcome, stream));
  ZR_TRY(build_decode_table(d_book, table, d_outcome, stream));
  const auto bad_index = reinterpret_cast<std::uint32_t*>(flags);
  const Args a{d_in,   bits,  table,   chunk_symbols, d_offsets,
               chunks, d_out, symbols, bad_index,     d_outcome};
  const unsigned grid = grid_size(static_cast<std::int64_t>(chunks), kThreads);
  ZR_LAUNCH(check_index_kernel, grid, kThreads, stream, a);
  ZR_LAUNCH(decode_chunks_kernel, grid, kThreads, stream, a);
  return Status::ok();
}

}  // namespace zerorun::cuda_entropy
