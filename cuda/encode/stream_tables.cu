// Code tables -> what the kernels look up, and the headers of the streams. A CTA makes all that is
// of fixed tables, or what is of one optimal table.
// SPDX-License-Identifier: MIT
#include "cuda/encode/frame_kernels.hpp"

#include "cuda/base/launch.hpp"
#include "cuda/stages/optimal_huffman.cuh"

namespace zerorun {
namespace cuda_encode {
namespace {

constexpr int kTableThreads = optimal_huffman::kThreads;  // a symbol each

__device__ int code_count(const HuffmanSpec& spec) {
  int count = 0;
  for (int i = 1; i <= kMaxCodeBits; ++i) count += spec.bits.data()[i];
  return count;
}

__device__ void copy_bytes(void* to, const void* from, unsigned count) {
  for (unsigned i = threadIdx.x; i < count; i += kTableThreads)
    static_cast<std::uint8_t*>(to)[i] = static_cast<const std::uint8_t*>(from)[i];
}

/// Writes the header up to its DHT segments.
__device__ void write_head(const StreamEnvelope& stream, std::uint8_t* header) {
  copy_bytes(header, stream.parts, stream.dht_at);
}

/// Returns how many bytes it has.
__device__ int write_segment(const DhtSegment& segment, const HuffmanSpec& spec, int codes,
                             std::uint8_t* out) {
  const int bytes = kDhtLeadBytes + codes;
  for (int i = static_cast<int>(threadIdx.x); i < bytes; i += kTableThreads)
    out[i] = segment.byte(spec, codes, i);
  return bytes;
}

/// Writes the rest of the header behind the segments, which end at `at`.
__device__ void write_tail(const StreamEnvelope& stream, std::uint8_t* header, std::uint32_t at,
                           std::uint32_t* header_bytes) {
  const std::uint32_t bytes = stream.parts_bytes - stream.dht_at;
  copy_bytes(header + at, stream.parts + stream.dht_at, bytes);
  if (threadIdx.x == 0) *header_bytes = at + bytes;
}

/// The words of the thread's symbol.
__device__ void store_words(CodeTable& codes, int table, std::uint32_t code, std::uint32_t bits) {
  const bool ac = table >= 2;
  const auto symbol = static_cast<int>(threadIdx.x);
  if (!has_code_slot(ac, symbol)) return;
  for (const bool negative : {false, true})
    codes.word[code_slot(ac, table % 2, symbol, negative)] = code_word(
        code, bits, static_cast<std::uint32_t>(symbol % 16), negative && symbol % 16 != 0);
}

__global__ void __launch_bounds__(kTableThreads) stream_tables_kernel(StreamTablesArgs a) {
  __shared__ HuffmanSpec specs[kEncodeTables];
  wait_for_previous_kernel();
  if (is_skipped(a.skip)) return;
  const auto thread = static_cast<int>(threadIdx.x);
  // All loads before the first store: a single CTA waits for memory once.
  std::uint32_t code[kEncodeTables], bits[kEncodeTables];
#pragma unroll
  for (int table = 0; table < kEncodeTables; ++table) {
    code[table] = a.tables->code[table][thread];
    bits[table] = a.tables->bits[table][thread];
  }
  copy_bytes(specs, a.specs, sizeof specs);
  for (int i = thread; i < kCodeWords; i += kTableThreads) a.codes->word[i] = 0;
  __syncthreads();
#pragma unroll
  for (int table = 0; table < kEncodeTables; ++table)
    store_words(*a.codes, table, code[table], bits[table]);
  if (a.stream.parts_bytes == 0) {
    if (thread == 0) *a.stream.header_bytes = 0;
    return;
  }
  write_head(a.stream, a.stream.header);
  std::uint32_t at = a.stream.dht_at;
  for (int n = 0; n < 2 * a.destinations; ++n) {
    const auto segment = DhtSegment::number(n);
    const HuffmanSpec& spec = specs[segment.table()];
    at += write_segment(segment, spec, code_count(spec), a.stream.header + at);
  }
  write_tail(a.stream, a.stream.header, at, a.stream.header_bytes);
}

/// Codewords of the segments before number `n`; those of the thread's warp.
__device__ int codes_before(const SymbolCounts& counts, int n) {
  int codes = 0;
#pragma unroll
  for (int before = 0; before + 1 < kEncodeTables; ++before) {
    const std::uint32_t count =
        before < n ? counts.count[DhtSegment::number(before).table()][threadIdx.x] : 0;
    codes += __popc(__ballot_sync(kFullWarp, count != 0));
  }
  return codes;
}

__global__ void __launch_bounds__(kTableThreads)
    optimal_tables_kernel(const __grid_constant__ OptimalTablesArgs a) {
  __shared__ optimal_huffman::Shared s;
  __shared__ HuffmanSpec spec;
  __shared__ int before_of_warp[optimal_huffman::kWarps];
  const std::uint32_t frame = blockIdx.y;
  const auto number = static_cast<int>(blockIdx.x), thread = static_cast<int>(threadIdx.x);
  const DhtSegment segment = DhtSegment::number(number);
  const int table = segment.table();
  optimal_huffman::start_table(s);
  wait_for_previous_kernel();
  if (is_skipped(a.skip)) return;
  const SymbolCounts& counts = a.counts[frame];
  const std::uint32_t count = counts.count[table][thread];
  const bool has_header = a.stream.parts_bytes > 0;
  std::uint8_t* const header = a.stream.header + frame * a.stream.stride;
  if (has_header) {
    const int codes = codes_before(counts, number);
    if (thread % 32 == 0) before_of_warp[thread / 32] = codes;
    if (number == 0) write_head(a.stream, header);
  }
  const optimal_huffman::Table built = optimal_huffman::build_table(s, count);
  // Not before: CTAs of the next kernel, which fetch their items meanwhile, take the room of
  // others.
  let_next_kernel_begin();
  store_words(a.codes[frame], table, built.own.code, built.own.bits);
  optimal_huffman::store_spec(s, built, spec);
  __syncthreads();
  copy_bytes(a.specs + frame * kEncodeTables + table, &spec, sizeof spec);
  if (!has_header) {
    if (number == 0 && thread == 0) a.stream.header_bytes[frame] = 0;
    return;
  }
  if (number >= 2 * a.destinations) return;
  int at = static_cast<int>(a.stream.dht_at) + number * kDhtLeadBytes;
  for (const int codes : before_of_warp) at += codes;
  at += write_segment(segment, spec, built.count, header + at);
  if (number + 1 == 2 * a.destinations)
    write_tail(a.stream, header, static_cast<std::uint32_t>(at), a.stream.header_bytes + frame);
}

}  // namespace
}  // namespace cuda_encode

using namespace cuda_encode;

Status make_stream_tables(const StreamTablesArgs& args, cudaStream_t stream) {
  return ZR_CUDA_STATUS(launch_behind(stream_tables_kernel, {1, kTableThreads}, stream, args));
}

Status make_optimal_tables(const OptimalTablesArgs& args, cudaStream_t stream) {
  const LaunchShape shape{kEncodeTables, kTableThreads, 0, args.frames};
  return ZR_CUDA_STATUS(launch_behind(optimal_tables_kernel, shape, stream, args));
}

}  // namespace zerorun
