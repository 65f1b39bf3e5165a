// CUDA twin of codec/decode/byte_unstuff.cpp: flag, scan, scatter.
// SPDX-License-Identifier: MIT
#include "codec/decode/byte_unstuff.hpp"

#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/device/device_scan.cuh>

#include "cuda/base/launch.hpp"
#include "cuda/base/scratch.hpp"
#include "cuda/base/stuffed_bytes.cuh"
#include "cuda/base/tuning.hpp"

namespace zerorun {
namespace {

using tuning::kThreads;
constexpr int kPerThread = kStuffedBytesPerThread;
constexpr std::int64_t kTileBytes = kThreads * kPerThread;
constexpr std::uint64_t kNoStop = ~std::uint64_t{0};

/// Clean bytes and borders of a range.
struct Counts {
  std::uint64_t bytes, borders;
};
struct AddCounts {
  __host__ __device__ Counts operator()(const Counts& a, const Counts& b) const {
    return {a.bytes + b.bytes, a.borders + b.borders};
  }
};

/// Index of the tile's first byte in the input.
__device__ std::int64_t tile_start(const StuffedBytes& input, std::int64_t tile) {
  return tile * kTileBytes - input.lead;
}

/// Counts of each tile up to the first marker in it, and the first marker of all. Counts of tiles
/// after that marker are never used.
__global__ void __launch_bounds__(kThreads)
    count_kernel(StuffedBytes input, Counts* tile_counts, unsigned long long* stop) {
  using Reduce = cub::BlockReduce<unsigned, kThreads>;
  __shared__ typename Reduce::TempStorage temp;
  __shared__ unsigned tile_stop;
  if (threadIdx.x == 0) tile_stop = kTileBytes;
  __syncthreads();
  const unsigned in_tile = threadIdx.x * kPerThread;
  const std::int64_t first = tile_start(input, blockIdx.x) + in_tile;
  const StuffedFlags flags = classify(input, first, load_window(input, first));
  if (flags.stop < kPerThread) {
    atomicMin(&tile_stop, in_tile + flags.stop);
    atomicMin(stop, static_cast<unsigned long long>(first + flags.stop));
  }
  __syncthreads();
  // Both counts are at most 4096, so one sum serves both.
  const bool before_stop = in_tile < tile_stop;
  const unsigned both = before_stop ? __popc(flags.emit) << 16 | __popc(flags.border) : 0;
  const unsigned sum = Reduce(temp).Sum(both);
  if (threadIdx.x == 0) tile_counts[blockIdx.x] = {sum >> 16, sum & 0xFFFF};
}

__global__ void __launch_bounds__(kThreads)
    scatter_kernel(StuffedBytes input, ByteUnstuffArgs a, std::int64_t tiles,
                   const Counts* tile_offsets, const unsigned long long* stop) {
  using Scan = cub::BlockScan<unsigned, kThreads>;
  __shared__ typename Scan::TempStorage temp;
  __shared__ std::uint8_t clean[kTileBytes];
  const auto end = static_cast<std::int64_t>(*stop == kNoStop ? a.in_bytes : *stop);
  const std::int64_t start = tile_start(input, blockIdx.x);
  if (start >= end && blockIdx.x > 0) return;  // the whole CTA leaves
  const std::int64_t first = start + threadIdx.x * kPerThread;
  const StuffedWindow window = load_window(input, first);
  StuffedFlags flags = classify(input, first, window);
  if (first >= end) flags.emit = flags.border = 0;

  unsigned before, total;
  Scan(temp).ExclusiveSum(__popc(flags.emit) << 16 | __popc(flags.border), before, total);
  const Counts offset = tile_offsets[blockIdx.x];
  unsigned at = before >> 16;
  std::uint64_t segment = offset.borders + (before & 0xFFFF);
  const StuffedWindow emitted = emitted_bytes(window, flags);
#pragma unroll
  for (int i = 0; i < kPerThread; ++i) {
    if ((flags.emit >> i & 1) != 0) clean[at++] = emitted.byte(i);
    if ((flags.border >> i & 1) != 0) {
      a.segments[segment].marker = window.byte(i);
      ++segment;
      a.segments[segment].first_byte = offset.bytes + at;
      a.segments[segment].source_byte = static_cast<std::uint64_t>(first + i + 1);
    }
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < total >> 16; i += kThreads)
    a.bytes[offset.bytes + i] = clean[i];

  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) a.segments[0].first_byte = a.segments[0].source_byte = 0;
  const bool last = blockIdx.x + 1 == tiles || tile_start(input, blockIdx.x + 1) >= end;
  if (!last) return;
  const std::uint64_t segments = offset.borders + (total & 0xFFFF) + 1;
  const std::uint64_t consumed = *stop == kNoStop ? a.in_bytes : *stop - 1;  // of the marker's FF
  a.segments[segments - 1].marker = 0;
  a.segments[segments] = {offset.bytes + (total >> 16), consumed, 0};
  *a.segment_total = segments;
  *a.consumed_bytes = consumed;
}

}  // namespace

Status byte_unstuff_cuda(const ByteUnstuffArgs& a, Exec& exec) {
  const auto lead = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(a.in) % kPerThread);
  const StuffedBytes input{a.in, static_cast<std::int64_t>(a.in_bytes), lead};
  const unsigned tiles = grid_size(input.in_bytes + lead, kTileBytes);
  const cudaStream_t stream = stream_of(exec);
  const auto scan = [&](void* temp, std::size_t& temp_bytes, Counts* counts) {
    return cub::DeviceScan::ExclusiveScan(temp, temp_bytes, counts, counts, AddCounts{},
                                          Counts{0, 0}, tiles, stream);
  };
  std::size_t temp_bytes = 0;
  ZR_CUDA_TRY(scan(nullptr, temp_bytes, nullptr));
  Counts* counts = nullptr;
  unsigned long long* stop = nullptr;
  std::byte* temp = nullptr;
  ZR_TRY(scratch_of(exec).carve(scratch_array(counts, tiles), scratch_array(stop, 1),
                                scratch_array(temp, static_cast<std::int64_t>(temp_bytes))));
  ZR_CUDA_TRY(cudaMemsetAsync(stop, 0xFF, sizeof *stop, stream));
  ZR_LAUNCH(count_kernel, tiles, kThreads, stream, input, counts, stop);
  ZR_CUDA_TRY(scan(temp, temp_bytes, counts));
  ZR_LAUNCH(scatter_kernel, tiles, kThreads, stream, input, a, tiles, counts, stop);
  return Status::ok();
}

}  // namespace zerorun
