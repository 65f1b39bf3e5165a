// Tiles of a frame -> the planes of a sample. A thread copies eight samples of a row.
// SPDX-License-Identifier: MIT
#include "cuda/encode/copy_sample.hpp"

#include "cuda/base/check.hpp"
#include "cuda/base/launch.hpp"

namespace zerorun {
namespace {

constexpr int kThreads = 256, kUnit = 8;

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
  ZR_CUDA_TRY(launch_behind(copy_sample_kernel, shape, stream, args));
  return Status::ok();
}

}  // namespace zerorun
