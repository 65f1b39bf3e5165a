// Variable-length decode by a chunk index: one thread a chunk. Serial twin: decode_chunks() in
// codec/entropy/variable_length.cpp.
// SPDX-License-Identifier: MIT
#include "cuda/base/launch.hpp"
#include "cuda/entropy/outcome.cuh"
#include "cuda/entropy/vld_table.cuh"

namespace zerorun::cuda_entropy {
namespace {

constexpr int kThreads = 256;

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
  const std::uint64_t chunk = static_cast<std::uint64_t>(grid_thread());
  if (chunk == 0) a.outcome->count = a.symbols;
  if (chunk >= a.chunks || a.table->usable == 0) return;
  if (a.offsets[chunk] <= a.offsets[chunk + 1] && a.offsets[chunk + 1] <= a.bits) return;
  atomicOr(a.bad_index, 1u);
  report_fault(a.outcome, 0, Errc::invalid_argument);
}

__global__ void __launch_bounds__(kThreads) decode_chunks_kernel(Args a) {
  __shared__ DecodeTable table;
  load_table(a.table, table);
  __syncthreads();
  const auto chunk = static_cast<std::uint64_t>(grid_thread());
  if (table.usable == 0 || *a.bad_index != 0 || chunk >= a.chunks) return;
  const std::uint64_t first = chunk * a.chunk_symbols, end = a.offsets[chunk + 1];
  const auto symbols =
      static_cast<std::uint32_t>(min(a.symbols - first, std::uint64_t{a.chunk_symbols}));
  SymbolWriter writer(a.out + first);
  // Only `end` and the number of symbols stop it.
  const Stop stop = decode_range(table, a.in, a.offsets[chunk], kNoFault, end, symbols,
                                 [&](std::uint8_t symbol) { writer.put(symbol); });
  writer.finish();
  const Errc code = stop.code == Errc::ok && stop.at != end ? Errc::extraneous_data : stop.code;
  if (code != Errc::ok) report_fault(a.outcome, stop.at, code, FaultPosition::bits);
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
