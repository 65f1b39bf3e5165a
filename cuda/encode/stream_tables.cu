// Code tables -> what the kernels look up, and the headers of the streams. A CTA for each frame.
// SPDX-License-Identifier: MIT
#include "cuda/encode/stream_tables.hpp"

#include "cuda/base/check.hpp"
#include "cuda/base/launch.hpp"
#include "cuda/encode/stream_envelope.cuh"

namespace zerorun {
namespace cuda_encode {
namespace {

constexpr int kThreads = 256;

__device__ int code_count(const HuffmanSpec& spec) {
  int count = 0;
  for (int i = 1; i <= kMaxCodeBits; ++i) count += spec.bits.data()[i];
  return count;
}

/// The header of a frame, to `header`; its index entries are written by assemble().
__device__ void write_header(const StreamEnvelope& stream, int destinations,
                             const HuffmanSpec* specs, std::uint8_t* header,
                             std::uint32_t* header_bytes) {
  const auto thread = static_cast<int>(threadIdx.x);
  std::uint8_t* out = header;
  without_entries(stream.index, stream.dht_at, [&](std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t i = begin + threadIdx.x; i < end; i += kThreads) out[i] = stream.parts[i];
  });
  out += stream.dht_at;
  for (int n = 0; n < 2 * destinations; ++n) {
    const auto segment = DhtSegment::number(n);
    const HuffmanSpec& spec = specs[segment.table()];
    const int count = code_count(spec);
    for (int i = thread; i < kDhtLeadBytes + count; i += kThreads)
      out[i] = segment.byte(spec, count, i);
    out += kDhtLeadBytes + count;
  }
  for (std::uint32_t i = stream.dht_at + threadIdx.x; i < stream.parts_bytes; i += kThreads)
    out[i - stream.dht_at] = stream.parts[i];
  if (thread == 0)
    *header_bytes = static_cast<std::uint32_t>(out - header) + stream.parts_bytes - stream.dht_at;
}

__global__ void __launch_bounds__(kThreads) stream_tables_kernel(StreamTablesArgs a) {
  __shared__ HuffmanSpec specs[kEncodeTables];
  wait_for_previous_kernel();
  if (is_skipped(a.skip)) return;
  const std::uint32_t frame = blockIdx.x;
  const auto thread = static_cast<int>(threadIdx.x);
  // All loads before the first store: a single CTA waits for memory once.
  std::uint32_t code[kEncodeTables], bits[kEncodeTables];
#pragma unroll
  for (int table = 0; table < kEncodeTables; ++table) {
    code[table] = a.tables[frame].code[table][thread];
    bits[table] = a.tables[frame].bits[table][thread];
  }
  const auto* const from = reinterpret_cast<const std::uint8_t*>(a.specs + frame * kEncodeTables);
  for (unsigned i = threadIdx.x; i < sizeof specs; i += kThreads)
    reinterpret_cast<std::uint8_t*>(specs)[i] = from[i];
  CodeTable& codes = a.codes[frame];
  for (int i = thread; i < kCodeWords; i += kThreads) codes.word[i] = 0;
  __syncthreads();
#pragma unroll
  for (int table = 0; table < kEncodeTables; ++table) {
    const bool ac = table >= 2;
    const int symbol = thread;
    if (!has_code_slot(ac, symbol)) continue;
    for (const bool negative : {false, true})
      codes.word[code_slot(ac, table % 2, symbol, negative)] =
          code_word(code[table], bits[table], static_cast<std::uint32_t>(symbol % 16),
                    negative && symbol % 16 != 0);
  }
  if (a.counts != nullptr)
    for (int table = 0; table < kEncodeTables; ++table) a.counts[frame].count[table][thread] = 0;
  if (a.stream.parts_bytes > 0)
    write_header(a.stream, a.destinations, specs, a.stream.header + frame * a.stream.stride,
                 a.stream.header_bytes + frame);
  else if (thread == 0)
    a.stream.header_bytes[frame] = 0;
}

}  // namespace
}  // namespace cuda_encode

Status make_stream_tables(const StreamTablesArgs& args, cudaStream_t stream) {
  ZR_CUDA_TRY(launch_behind(cuda_encode::stream_tables_kernel, args.frames, cuda_encode::kThreads,
                            stream, args));
  return Status::ok();
}

}  // namespace zerorun
