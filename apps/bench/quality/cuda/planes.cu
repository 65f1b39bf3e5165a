// From pixels to the planes that are compared, at all scales. One thread makes a pixel.
// SPDX-License-Identifier: MIT
#include <algorithm>

#include "apps/bench/quality/cuda/add_up.cuh"
#include "apps/bench/quality/cuda/kernels.hpp"

namespace zerorun::rd {
namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kMostCtas = 1 << 16;
constexpr unsigned kMostRows = 65535;  // what gridDim.y allows

/// Pixel `i` of three planes of linear light to XYB.
__device__ void write_xyb(float r, float g, float b, float root, float* xyb, std::int64_t i,
                          std::int64_t pixels) {
  const Xyb pixel = xyb_of(r, g, b, root);
#pragma unroll
  for (int c = 0; c < 3; ++c) xyb[c * pixels + i] = pixel.component[c];
}

__global__ void __launch_bounds__(kThreads)
    first_planes_kernel(const __grid_constant__ FirstPlanes p) {
  const std::int64_t step = std::int64_t{gridDim.x} * kThreads;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; i < p.pixels;
       i += step) {
    const std::uint8_t r = p.rgb[3 * i], g = p.rgb[3 * i + 1], b = p.rgb[3 * i + 2];
    const float lr = p.table->value[r], lg = p.table->value[g], lb = p.table->value[b];
    p.luma[i] = luma_of(r, g, b);
    p.linear[i] = lr;
    p.linear[p.pixels + i] = lg;
    p.linear[2 * p.pixels + i] = lb;
    write_xyb(lr, lg, lb, p.root, p.xyb, i, p.pixels);
  }
}

__global__ void __launch_bounds__(kThreads)
    halve_kernel(const float* in, Size size, float* out, Size half) {
  const int x = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  if (x >= half.width) return;
  for (int y = static_cast<int>(blockIdx.y); y < half.height; y += static_cast<int>(gridDim.y))
    out[std::int64_t{y} * half.width + x] = halved_at(in, size.width, size.height, x, y);
}

__global__ void __launch_bounds__(kThreads)
    halve_linear_kernel(const __grid_constant__ LinearHalves p) {
  const int x = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  if (x >= p.half.width) return;
  const std::int64_t from = std::int64_t{p.size.width} * p.size.height;
  const std::int64_t to = std::int64_t{p.half.width} * p.half.height;
  for (int y = static_cast<int>(blockIdx.y); y < p.half.height; y += static_cast<int>(gridDim.y)) {
    const std::int64_t i = std::int64_t{y} * p.half.width + x;
    float rgb[3];
#pragma unroll
    for (int c = 0; c < 3; ++c) {
      rgb[c] = halved_at(p.in + c * from, p.size.width, p.size.height, x, y);
      p.linear[c * to + i] = rgb[c];
    }
    write_xyb(rgb[0], rgb[1], rgb[2], p.root, p.xyb, i, to);
  }
}

dim3 grid_for(Size size) {
  return {static_cast<unsigned>((size.width + kThreads - 1) / kThreads),
          std::min(static_cast<unsigned>(size.height), kMostRows)};
}

}  // namespace

Status make_first_planes(const FirstPlanes& planes, cudaStream_t stream) {
  const std::int64_t ctas = std::min((planes.pixels + kThreads - 1) / kThreads, kMostCtas);
  first_planes_kernel<<<static_cast<unsigned>(ctas), kThreads, 0, stream>>>(planes);
  return launched("first_planes_kernel");
}

Status halve(const float* in, Size size, float* out, Size half, cudaStream_t stream) {
  halve_kernel<<<grid_for(half), kThreads, 0, stream>>>(in, size, out, half);
  return launched("halve_kernel");
}

Status halve_linear(const LinearHalves& planes, cudaStream_t stream) {
  halve_linear_kernel<<<grid_for(planes.half), kThreads, 0, stream>>>(planes);
  return launched("halve_linear_kernel");
}

}  // namespace zerorun::rd
