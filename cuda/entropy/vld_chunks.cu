// Variable-length decode by a chunk index: one thread a chunk. Serial twin: decode_chunks() in
// codec/entropy/variable_length.cpp.
// SPDX-License-Identifier: MIT
#include "cuda/entropy/launch.hpp"
#include "cuda/entropy/vld_table.cuh"

namespace zerorun::cuda_entropy {
namespace {

constexpr int kThreads = 128;

struct Args {
  const std::uint32_t* in;
  std::uint64_t bits;
  const DecodeTable* table;
  std::uint32_t chunk_symbols;
  const std::uint64_t* offsets;
  std::uint64_t chunks;
  std::uint8_t* out;
  std::uint64_t symbols;
  std::uint32_t* bad_index;  // set if the offsets cannot be trusted
  Outcome* outcome;
};

/// Offsets come from outside: nothing is read by them before all of them are known to be in order.
__global__ void __launch_bounds__(kThreads) check_index_kernel(Args a) {
  const std::uint64_t chunk = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (chunk == 0) a.outcome->count = a.symbols;
  if (chunk >= a.chunks || a.table->usable == 0) return;
  if (a.offsets[chunk] <= a.offsets[chunk + 1] && a.offsets[chunk + 1] <= a.bits) return;
  atomicOr(a.bad_index, 1u);
  report_fault(a.outcome, pack_fault(0, Errc::invalid_argument, FaultPosition::hidden));
}

__global__ void __launch_bounds__(kThreads) decode_chunks_kernel(Args a) {
  __shared__ DecodeTable table;
  load_table(a.table, table);
  __syncthreads();
  const std::uint64_t chunk = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (chunk >= a.chunks || table.usable == 0 || *a.bad_index != 0) return;
  const std::uint64_t begin = a.offsets[chunk], end = a.offsets[chunk + 1];
  const std::uint64_t first = chunk * a.chunk_symbols;
  const std::uint64_t left = a.symbols - first;
  const std::uint32_t symbols =
      left < a.chunk_symbols ? static_cast<std::uint32_t>(left) : a.chunk_symbols;
  ByteWriter writer(a.out + first);
  // There is no place to stop before `end` but the number of symbols.
  const Stop stop = decode_range(table, a.in, begin, kNoFault, end, symbols,
                                 [&](std::uint8_t symbol) { writer.put(symbol); });
  writer.finish();
  Errc code = stop.code;
  if (code == Errc::ok && stop.at != end) code = Errc::extraneous_data;
  if (code != Errc::ok) report_fault(a.outcome, pack_fault(stop.at, code, FaultPosition::bits));
}

}  // namespace

Status decode_chunks(void* d_scratch, std::size_t& scratch_bytes, const std::uint32_t* d_in,
                     std::uint64_t bits, const Codebook* d_book, std::uint32_t chunk_symbols,
                     const std::uint64_t* d_offsets, std::uint8_t* d_out, std::uint64_t symbols,
                     Outcome* d_outcome, cudaStream_t stream) {
  const bool power_of_two = (chunk_symbols & (chunk_symbols - 1)) == 0;
  if (chunk_symbols < kMinChunkSymbols || chunk_symbols > kMaxChunkSymbols || !power_of_two)
    return Status(Errc::invalid_argument, "a chunk has 16 to 2^20 symbols, a power of two");
  const std::uint64_t chunks = ceil_div(symbols, chunk_symbols);
  const std::uint64_t grid = std::max<std::uint64_t>(1, ceil_div(chunks, kThreads));
  if (grid > 0x7FFFFFFFu) return Status(Errc::invalid_argument, "at most 2^38 chunks fit a grid");
  Scratch scratch(d_scratch);
  DecodeTable* const table = scratch.take<DecodeTable>(1);
  std::uint64_t* const flags = scratch.take<std::uint64_t>(1);
  if (Status status = scratch.settle(scratch_bytes); !status || scratch.measuring()) return status;
  ZR_ENTROPY_TRY(reset(flags, 1, d_outcome, stream));
  ZR_ENTROPY_TRY(build_decode_table(d_book, table, d_outcome, stream));
  const Args a{d_in,          bits,      table,
               chunk_symbols, d_offsets, chunks,
               d_out,         symbols,   reinterpret_cast<std::uint32_t*>(flags),
               d_outcome};
  check_index_kernel<<<static_cast<unsigned>(grid), kThreads, 0, stream>>>(a);
  ZR_ENTROPY_TRY(cudaGetLastError());
  decode_chunks_kernel<<<static_cast<unsigned>(grid), kThreads, 0, stream>>>(a);
  ZR_ENTROPY_TRY(cudaGetLastError());
  return Status::ok();
}

}  // namespace zerorun::cuda_entropy
