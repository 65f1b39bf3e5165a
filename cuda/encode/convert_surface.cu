// A video decoder's picture in device memory -> a planar frame of JPEG's samples. One thread makes
// one chroma sample of each component and the luma samples that it covers.
// SPDX-License-Identifier: MIT
#include "cuda/encode/convert_surface.hpp"

#include <algorithm>

#include "codec/arith/sample_terms.hpp"
#include "cuda/base/launch.hpp"
#include "cuda/base/memory.hpp"

namespace zerorun {
namespace {

constexpr int kThreadsX = 32, kThreadsY = 8;
constexpr int kMaxGridY = 65535;

/// Bytes, or words of 16 bits whose highest bits are the sample.
template <typename Word>
__device__ std::uint32_t load(const std::uint8_t* row, int x, int shift) {
  return static_cast<std::uint32_t>(reinterpret_cast<const Word*>(row)[x]) >> shift;
}

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
  ZR_CUDA_TRY(cudaGetLastError());
  return Status::ok();
}

}  // namespace zerorun
