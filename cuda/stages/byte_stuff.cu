// CUDA twin of codec/encode/byte_stuff.cpp: counts the FF of each tile, scans, scatters. A warp
// does a tile of 256 bytes.
// SPDX-License-Identifier: MIT
#include "codec/encode/byte_stuff.hpp"

#include "codec/syntax/marker.hpp"
#include "cuda/base/device_scan.hpp"
#include "cuda/base/launch.hpp"
#include "cuda/base/scratch.hpp"
#include "cuda/base/warp.cuh"

namespace zerorun {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kLaneBytes = 8;
constexpr std::int64_t kTileBytes = 32 * kLaneBytes;

/// `count` bytes from `in`, 0 to 8, the first one lowest; the others are 0.
__device__ std::uint64_t load_bytes(const std::uint8_t* in, int count) {
  if (count == 8 && reinterpret_cast<std::uintptr_t>(in) % 8 == 0)
    return *reinterpret_cast<const std::uint64_t*>(in);
  std::uint64_t value = 0;
  for (int i = 0; i < count; ++i) value |= std::uint64_t{in[i]} << (8 * i);
  return value;
}

__device__ int count_ff(std::uint64_t bytes) {
  return (__popc(__vcmpeq4(static_cast<std::uint32_t>(bytes), kFullWarp)) +
          __popc(__vcmpeq4(static_cast<std::uint32_t>(bytes >> 32), kFullWarp))) /
         8;
}

/// Bytes of [begin, begin + kLaneBytes) that lie before `end`.
__device__ int bytes_before(std::int64_t begin, std::int64_t end) {
  return static_cast<int>(max(std::int64_t{0}, min(std::int64_t{kLaneBytes}, end - begin)));
}

__device__ std::int64_t input_bytes(const ByteStuffArgs& a) {
  return static_cast<std::int64_t>(a.interval_first_byte[a.intervals]);
}

/// `tiles` is enough for the largest input; tiles after the real end have no FF.
__global__ void __launch_bounds__(kThreads)
    count_kernel(ByteStuffArgs a, std::int64_t tiles, std::uint32_t* tile_ff) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t total = input_bytes(a);
  for (std::int64_t c = std::int64_t{blockIdx.x} * kWarps + threadIdx.x / 32; c <= tiles;
       c += std::int64_t{gridDim.x} * kWarps) {
    const std::int64_t begin = c * kTileBytes + lane * kLaneBytes;
    const int here = bytes_before(begin, total);
    const int ff = here > 0 ? count_ff(load_bytes(a.bytes + begin, here)) : 0;
    const int sum = warp_add(ff);
    if (lane == 0) tile_ff[c] = static_cast<std::uint32_t>(sum);
  }
}

/// Intervals that end at or before byte p, and so the markers in front of it.
__device__ std::int64_t intervals_before(const ByteStuffArgs& a, std::int64_t p) {
  std::int64_t low = 0, high = a.intervals;
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    if (static_cast<std::int64_t>(a.interval_first_byte[middle + 1]) <= p)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

__global__ void __launch_bounds__(kThreads)
    scatter_kernel(ByteStuffArgs a, const std::uint64_t* ff_before_tile) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t total = input_bytes(a);
  const std::int64_t tiles = ceil_div(total, kTileBytes);
  for (std::int64_t c = std::int64_t{blockIdx.x} * kWarps + threadIdx.x / 32; c < tiles;
       c += std::int64_t{gridDim.x} * kWarps) {
    const std::int64_t begin = c * kTileBytes + lane * kLaneBytes;
    const int here = bytes_before(begin, total);
    const std::uint64_t bytes = here > 0 ? load_bytes(a.bytes + begin, here) : 0;
    const int own = here > 0 ? count_ff(bytes) : 0;
    const auto ff = static_cast<int>(warp_inclusive_sum(static_cast<unsigned>(own)));
    if (here == 0) continue;  // in the next round all lanes take part again
    std::int64_t ended = intervals_before(a, begin);
    std::uint8_t* out =
        a.out + begin + static_cast<std::int64_t>(ff_before_tile[c]) + (ff - own) + 2 * ended;
    for (int i = 0; i < here; ++i) {
      // An interval that ends here leaves room for its marker, and so do empty ones.
      for (; static_cast<std::int64_t>(a.interval_first_byte[ended + 1]) <= begin + i; ++ended)
        out += 2;
      const auto byte = static_cast<std::uint8_t>(bytes >> (8 * i));
      *out++ = byte;
      if (byte == 0xFF) *out++ = 0;
    }
  }
}

__device__ std::int64_t ff_before(const ByteStuffArgs& a, const std::uint64_t* ff_before_tile,
                                  std::int64_t p) {
  const std::int64_t tile = p / kTileBytes;
  auto sum = static_cast<std::int64_t>(ff_before_tile[tile]);
  for (std::int64_t at = tile * kTileBytes; at < p; at += kLaneBytes)
    sum += count_ff(load_bytes(a.bytes + at, bytes_before(at, p)));
  return sum;
}

__global__ void __launch_bounds__(kThreads)
    marker_kernel(ByteStuffArgs a, const std::uint64_t* ff_before_tile) {
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; i < a.intervals;
       i += std::int64_t{gridDim.x} * kThreads) {
    const auto end = static_cast<std::int64_t>(a.interval_first_byte[i + 1]);
    std::int64_t at = end + ff_before(a, ff_before_tile, end) + 2 * i;
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
  const unsigned grid = grid_size(tiles + 1, kWarps, kManyCtas);
  ZR_LAUNCH(count_kernel, grid, kThreads, stream, a, tiles, tile_ff);
  ZR_TRY(device_exclusive_scan(tile_ff, ff_before_tile, tiles + 1, temp, temp_bytes, stream));
  ZR_LAUNCH(scatter_kernel, grid, kThreads, stream, a, ff_before_tile);
  ZR_LAUNCH(marker_kernel, grid_size(a.intervals, kThreads), kThreads, stream, a, ff_before_tile);
  return Status::ok();
}

}  // namespace zerorun
