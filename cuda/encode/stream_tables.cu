// A CTA for each frame: code tables -> what the fused kernels look up, and the header of the
// stream.
// SPDX-License-Identifier: MIT
#include "cuda/encode/stream_tables.hpp"

#include "codec/syntax/marker.hpp"
#include "cuda/base/check.hpp"
#include "cuda/base/launch.hpp"
#include "cuda/encode/header_bytes.cuh"

namespace zerorun {
namespace cuda_encode {
namespace {

constexpr int kThreads = 256;
/// FF C4, length, class and destination, BITS (T.81 B.2.4.2).
constexpr int kDhtFixedBytes = 4 + 1 + kMaxCodeBits;

__device__ int code_count(const HuffmanSpec& spec) {
  int count = 0;
  for (int i = 1; i <= kMaxCodeBits; ++i) count += spec.bits.data()[i];
  return count;
}

__device__ std::uint8_t dht_byte(const HuffmanSpec& spec, int segment, int count, int i) {
  const int length = 2 + 1 + kMaxCodeBits + count;
  switch (i) {
    case 0:
      return 0xFF;
    case 1:
      return marker::kDht;
    case 2:
      return static_cast<std::uint8_t>(length >> 8);
    case 3:
      return static_cast<std::uint8_t>(length);
    case 4:
      return static_cast<std::uint8_t>(segment % 2 << 4 | segment / 2);
    default:
      return i < kDhtFixedBytes ? spec.bits.data()[i - 4] : spec.values.data()[i - kDhtFixedBytes];
  }
}

__device__ void write_header(const StreamTablesArgs& a, const HuffmanSpec* specs) {
  const auto thread = static_cast<int>(threadIdx.x);
  std::uint8_t* out = a.finished_header;
  without_entries(a.index, a.front_bytes, [&](std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t i = begin + threadIdx.x; i < end; i += kThreads) out[i] = a.header[i];
  });
  out += a.front_bytes;
  // The segments come by destination, DC before AC (header_writer.cpp).
  for (int segment = 0; segment < 2 * a.destinations; ++segment) {
    const HuffmanSpec& spec = specs[segment % 2 * 2 + segment / 2];
    const int count = code_count(spec);
    for (int i = thread; i < kDhtFixedBytes + count; i += kThreads)
      out[i] = dht_byte(spec, segment, count, i);
    out += kDhtFixedBytes + count;
  }
  for (std::uint32_t i = a.front_bytes + threadIdx.x; i < a.header_bytes; i += kThreads)
    out[i - a.front_bytes] = a.header[i];
  if (thread == 0)
    *a.finished_header_bytes =
        static_cast<std::uint32_t>(out - a.finished_header) + a.header_bytes - a.front_bytes;
}

/// What is one frame's of arguments for all.
__device__ void select_frame(StreamTablesArgs& a, std::uint32_t frame) {
  a.specs += frame * kEncodeTables;
  a.tables += frame;
  a.codes += frame;
  a.finished_header += frame * header_stride(a.header_bytes);
  a.finished_header_bytes += frame;
  if (a.counts != nullptr) a.counts += frame;
}

__global__ void __launch_bounds__(kThreads) stream_tables_kernel(StreamTablesArgs a) {
  __shared__ HuffmanSpec specs[kEncodeTables];
  wait_for_previous_kernel();
  select_frame(a, blockIdx.x);
  const auto thread = static_cast<int>(threadIdx.x);
  // All loads before the first store: a single CTA waits for memory once.
  std::uint32_t code[kEncodeTables], bits[kEncodeTables];
#pragma unroll
  for (int table = 0; table < kEncodeTables; ++table) {
    code[table] = a.tables->code[table][thread];
    bits[table] = a.tables->bits[table][thread];
  }
  for (unsigned i = threadIdx.x; i < sizeof specs; i += kThreads)
    reinterpret_cast<std::uint8_t*>(specs)[i] = reinterpret_cast<const std::uint8_t*>(a.specs)[i];
  for (int i = thread; i < kCodeWords; i += kThreads) a.codes->word[i] = 0;
  __syncthreads();
#pragma unroll
  for (int table = 0; table < kEncodeTables; ++table) {
    const bool ac = table >= 2;
    const int symbol = thread;
    if (!has_code_slot(ac, symbol)) continue;
    for (const bool negative : {false, true})
      a.codes->word[code_slot(ac, table % 2, symbol, negative)] =
          code_word(code[table], bits[table], static_cast<std::uint32_t>(symbol % 16),
                    negative && symbol % 16 != 0);
  }
  if (a.counts != nullptr)
    for (int table = 0; table < kEncodeTables; ++table) a.counts->count[table][thread] = 0;
  if (a.header_bytes > 0)
    write_header(a, specs);
  else if (thread == 0)
    *a.finished_header_bytes = 0;
}

}  // namespace
}  // namespace cuda_encode

Status make_stream_tables(const StreamTablesArgs& args, cudaStream_t stream) {
  ZR_CUDA_TRY(launch_behind(cuda_encode::stream_tables_kernel, args.frames, cuda_encode::kThreads,
                            stream, args));
  return Status::ok();
}

}  // namespace zerorun
