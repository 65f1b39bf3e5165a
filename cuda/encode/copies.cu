// The small kernels that copy and convert.
// SPDX-License-Identifier: MIT
#include "cuda/encode/copies.hpp"

#include <algorithm>

#include "codec/arith/color.hpp"
#include "cuda/base/launch.hpp"
#include "cuda/base/memory.hpp"

namespace zerorun {
namespace {

constexpr unsigned kThreads = 256;
constexpr int kThreadsX = 32, kThreadsY = 8;  // of pictures
constexpr int kMaxGridY = 65535;

/// Bytes, or words of 16 bits whose highest bits are the sample.
template <typename Word>
__device__ std::uint32_t load(const std::uint8_t* row, int x, int shift) {
  return static_cast<std::uint32_t>(reinterpret_cast<const Word*>(row)[x]) >> shift;
}

/// One thread makes one chroma sample of each component and the luma samples that it covers.
template <typename Word>
__global__ void __launch_bounds__(kThreadsX* kThreadsY)
    convert_kernel(const __grid_constant__ DeviceSurface in,
                   const __grid_constant__ FrameView out) {
  const SampleConversion& c = in.conversion;
  const int shift = static_cast<int>(8 * sizeof(Word)) - c.depth_bits;
  const int width = (in.width + 1) / 2, height = (in.height + 1) / 2;
  const int x = static_cast<int>(blockIdx.x) * kThreadsX + static_cast<int>(threadIdx.x);
  if (x >= width) return;
  for (int y = static_cast<int>(blockIdx.y) * kThreadsY + static_cast<int>(threadIdx.y); y < height;
       y += static_cast<int>(gridDim.y) * kThreadsY) {
    const std::uint8_t* const chroma = in.chroma + y * in.chroma_stride_bytes;
    const std::uint32_t cb = load<Word>(chroma, 2 * x, shift);
    const std::uint32_t cr = load<Word>(chroma, 2 * x + 1, shift);
    out.data[1][y * out.stride_bytes[1] + x] =
        sample_of(term_of(c.cb_cb, cb) + term_of(c.cb_cr, cr));
    out.data[2][y * out.stride_bytes[2] + x] =
        sample_of(term_of(c.cr_cb, cb) + term_of(c.cr_cr, cr));
    const std::int32_t in_luma = term_of(c.y_cb, cb) + term_of(c.y_cr, cr);
    for (int luma_y = 2 * y; luma_y < min(2 * y + 2, in.height); ++luma_y) {
      const std::uint8_t* const luma = in.luma + luma_y * in.luma_stride_bytes;
      std::uint8_t* const to = out.data[0] + luma_y * out.stride_bytes[0];
      for (int luma_x = 2 * x; luma_x < min(2 * x + 2, in.width); ++luma_x)
        to[luma_x] = sample_of(term_of(c.y_y, load<Word>(luma, luma_x, shift)) + in_luma);
    }
  }
}

}  // namespace

Status convert_surface(const DeviceSurface& surface, const FrameView& out, cudaStream_t stream) {
  const int width = (surface.width + 1) / 2, height = (surface.height + 1) / 2;
  const dim3 threads(kThreadsX, kThreadsY);
  const dim3 grid(static_cast<unsigned>(ceil_div(width, kThreadsX)),
                  static_cast<unsigned>(std::min(ceil_div(height, kThreadsY), kMaxGridY)));
  if (surface.conversion.depth_bits > 8)
    convert_kernel<std::uint16_t><<<grid, threads, 0, stream>>>(surface, out);
  else
    convert_kernel<std::uint8_t><<<grid, threads, 0, stream>>>(surface, out);
  return ZR_CUDA_STATUS(cudaGetLastError());
}

namespace {

/// Samples of a row that a thread copies.
constexpr int kUnit = 8;

__global__ void __launch_bounds__(kThreads)
    copy_sample_kernel(const __grid_constant__ CopySampleArgs a) {
  const auto c = static_cast<int>(blockIdx.y);
  const int units = a.grid.wide * a.tile_wide[c] / kUnit;  // of a row of the sample
  const int rows = a.grid.high * a.tile_high[c];
  wait_for_previous_kernel();
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
       i < std::int64_t{units} * rows; i += std::int64_t{gridDim.x} * kThreads) {
    const auto row = static_cast<int>(i / units), x = static_cast<int>(i % units) * kUnit;
    const int column = x / a.tile_wide[c], tile_row = row / a.tile_high[c];
    const int from_x = a.grid.x(column) * a.tile_wide[c] / SampleGrid::kTile + x % a.tile_wide[c];
    const int from_y =
        a.grid.y(tile_row) * a.tile_high[c] / SampleGrid::kTile + row % a.tile_high[c];
    const std::uint8_t* const from = a.from[c].data + from_y * a.from[c].stride_bytes + from_x;
    std::uint64_t word = 0;
#pragma unroll
    for (int byte = 0; byte < kUnit; ++byte) word |= std::uint64_t{from[byte]} << (8 * byte);
    reinterpret_cast<std::uint64_t*>(a.to[c])[i] = word;
  }
}

}  // namespace

Status copy_sample(const CopySampleArgs& args, cudaStream_t stream) {
  const std::int64_t units =
      std::int64_t{args.grid.wide} * args.tile_wide[0] / kUnit * args.grid.high * args.tile_high[0];
  const LaunchShape shape{grid_size(units, kThreads, kManyCtas), kThreads, 0,
                          static_cast<unsigned>(args.components)};
  return ZR_CUDA_STATUS(launch_behind(copy_sample_kernel, shape, stream, args));
}

namespace {

/// CTAs with the same blockIdx.y share a stream. One of 800 KB takes 16 steps of each thread.
constexpr unsigned kCtasOfStream = 16;

__global__ void __launch_bounds__(kThreads)
    pack_streams_kernel(const __grid_constant__ PackStreamsArgs a) {
  const unsigned own = blockIdx.y;
  wait_for_previous_kernel();
  std::uint64_t from = 0, to = 0;
  for (unsigned i = 0; i < own; ++i) {
    from += a.room[i];
    to += PackStreamsArgs::packed_bytes(a.sizes[i], a.room[i]);
  }
  const std::uint64_t size = a.sizes[own];
  if (blockIdx.x == 0 && threadIdx.x == 0) a.sizes_on_host[own] = size;
  const std::uint64_t units =
      PackStreamsArgs::packed_bytes(size, a.room[own]) / PackStreamsArgs::kStep;
  const uint4* const source = reinterpret_cast<const uint4*>(a.rooms + from);
  uint4* const target = reinterpret_cast<uint4*>(a.packed + to);
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < units;
       i += std::uint64_t{gridDim.x} * kThreads)
    target[i] = source[i];
}

}  // namespace

Status pack_streams(const PackStreamsArgs& args, cudaStream_t stream) {
  return ZR_CUDA_STATUS(
      launch_behind(pack_streams_kernel, {kCtasOfStream, kThreads, 0, args.streams}, stream, args));
}

}  // namespace zerorun
