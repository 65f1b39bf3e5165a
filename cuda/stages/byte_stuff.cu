// CUDA twin of codec/encode/byte_stuff.cpp: counts the FF of each tile, scans, scatters. A thread
// does a tile of 16 bytes.
// SPDX-License-Identifier: MIT
#include "codec/encode/byte_stuff.hpp"

#include "codec/base/marker.hpp"
#include "cuda/base/launch.hpp"
#include "cuda/base/scratch.hpp"

namespace zerorun {
namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kTileBytes = 16;

__device__ std::int64_t interval_end(const ByteStuffArgs& a, std::int64_t interval) {
  return static_cast<std::int64_t>(a.interval_first_byte[interval + 1]);
}
__device__ std::int64_t input_bytes(const ByteStuffArgs& a) {
  return interval_end(a, a.intervals - 1);
}

__device__ std::uint32_t count_ff(const ByteStuffArgs& a, std::int64_t begin, std::int64_t end) {
  std::uint32_t ff = 0;
  for (std::int64_t p = begin; p < end; ++p) ff += a.bytes[p] == 0xFF;
  return ff;
}

/// `tiles` is enough for the largest input; tiles after the real end have no FF.
__global__ void count_kernel(ByteStuffArgs a, std::int64_t tiles, std::uint32_t* tile_ff) {
  const std::int64_t total = input_bytes(a);
  for (std::int64_t t = grid_thread(); t <= tiles; t += grid_threads())
    tile_ff[t] = count_ff(a, t * kTileBytes, min((t + 1) * kTileBytes, total));
}

/// Intervals that end at or before byte p, and so the markers in front of it.
__device__ std::int64_t intervals_before(const ByteStuffArgs& a, std::int64_t p) {
  std::int64_t low = 0, high = a.intervals;
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    if (interval_end(a, middle) <= p)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

__global__ void scatter_kernel(ByteStuffArgs a, const std::uint64_t* ff_before_tile) {
  const std::int64_t total = input_bytes(a), tiles = ceil_div(total, kTileBytes);
  for (std::int64_t t = grid_thread(); t < tiles; t += grid_threads()) {
    const std::int64_t begin = t * kTileBytes, end = min(begin + kTileBytes, total);
    std::int64_t ended = intervals_before(a, begin);
    std::uint8_t* out = a.out + begin + static_cast<std::int64_t>(ff_before_tile[t]) + 2 * ended;
    for (std::int64_t p = begin; p < end; ++p) {
      // An interval that ends here leaves room for its marker, and so do empty ones.
      for (; interval_end(a, ended) <= p; ++ended) out += 2;
      *out++ = a.bytes[p];
      if (a.bytes[p] == 0xFF) *out++ = 0;
    }
  }
}

__global__ void marker_kernel(ByteStuffArgs a, const std::uint64_t* ff_before_tile) {
  for (std::int64_t i = grid_thread(); i < a.intervals; i += grid_threads()) {
    const std::int64_t end = interval_end(a, i), tile = end / kTileBytes;
    std::int64_t at = end + static_cast<std::int64_t>(ff_before_tile[tile]) +
                      count_ff(a, tile * kTileBytes, end) + 2 * i;
    const std::int64_t interval = a.first_interval + i;
    if (interval + 1 < a.scan_intervals) {
      a.out[at++] = 0xFF;
      a.out[at++] = static_cast<std::uint8_t>(marker::kRst0 + interval % 8);
    }
    if (i + 1 == a.intervals) *a.out_bytes = static_cast<std::uint64_t>(at);
  }
}

}  // namespace

Status byte_stuff_cuda(const ByteStuffArgs& a, Exec& exec) {
  const cudaStream_t stream = stream_of(exec);
  if (a.intervals == 0) {
    ZR_CUDA_TRY(cudaMemsetAsync(a.out_bytes, 0, sizeof *a.out_bytes, stream));
    return Status::ok();
  }
  // The inverse of max_stuffed_bytes(): how many bytes there can be.
  const std::int64_t most_bytes = (a.out_capacity - 2 * a.intervals) / 2;
  const std::int64_t tiles = ceil_div(most_bytes, kTileBytes);
  std::int64_t temp_bytes = 0;
  ZR_TRY(device_scan_temp_bytes(tiles + 1, temp_bytes));
  std::byte* temp = nullptr;
  std::uint32_t* tile_ff = nullptr;
  std::uint64_t* ff_before_tile = nullptr;
  ZR_TRY(scratch_of(exec).carve(scratch_array(temp, temp_bytes), scratch_array(tile_ff, tiles + 1),
                                scratch_array(ff_before_tile, tiles + 1)));
  const unsigned grid = grid_size(tiles + 1, kThreads, kManyCtas);
  ZR_LAUNCH(count_kernel, grid, kThreads, stream, a, tiles, tile_ff);
  ZR_TRY(device_exclusive_scan(tile_ff, ff_before_tile, tiles + 1, temp, temp_bytes, stream));
  ZR_LAUNCH(scatter_kernel, grid, kThreads, stream, a, ff_before_tile);
  ZR_LAUNCH(marker_kernel, grid_size(a.intervals, kThreads), kThreads, stream, a, ff_before_tile);
  return Status::ok();
}

}  // namespace zerorun
