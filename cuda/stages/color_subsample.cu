// CUDA twin of codec/encode/color_subsample.cpp. One thread makes one chroma sample of each
// component and the luma samples that it covers.
// SPDX-License-Identifier: MIT
#include "codec/encode/color_subsample.hpp"

#include <algorithm>

#include "codec/arith/color.hpp"
#include "codec/arith/resample.hpp"
#include "codec/base/pixel_rows.hpp"
#include "cuda/base/launch.hpp"
#include "cuda/base/scratch.hpp"

namespace zerorun {
namespace {

// A warp covers one run of a row, so that its bytes come from neighbouring sectors.
constexpr int kThreadsX = 32, kThreadsY = 8;
constexpr unsigned kMaxGridY = 65535;

/// Packed RGB of any byte order.
struct RgbSource {
  const std::uint8_t* data;
  std::int64_t stride;
  RgbOrder order;

  __device__ std::uint8_t luma(int x, int y) const {
    const std::uint8_t* p = data + y * stride + std::int64_t{x} * order.pixel_bytes;
    return rgb_to_y(p[order.r], p[order.g], p[order.b]);
  }
  __device__ Ycc pixel(int x, int y) const {
    const std::uint8_t* p = data + y * stride + std::int64_t{x} * order.pixel_bytes;
    return rgb_to_ycc(p[order.r], p[order.g], p[order.b]);
  }
};

/// Planar, semi-planar and packed YCbCr; without chroma planes grey.
struct YccSource {
  const std::uint8_t *y_data, *cb_data, *cr_data;  // cb_data is null for grey
  std::int64_t y_stride, cb_stride, cr_stride;
  int y_step, step, shift_x, shift_y;

  __device__ std::uint8_t luma(int x, int y) const {
    return y_data[y * y_stride + std::int64_t{x} * y_step];
  }
  __device__ Ycc pixel(int x, int y) const {
    const std::uint8_t value = luma(x, y);
    if (cb_data == nullptr) return {value, 128, 128};
    const std::int64_t column = std::int64_t{x >> shift_x} * step;
    const std::int64_t row = y >> shift_y;
    return {value, cb_data[row * cb_stride + column], cr_data[row * cr_stride + column]};
  }
};

/// Chroma that the frame has at the wanted resolution already comes through the box filter
/// unchanged.
template <int kH, int kV, typename Source>
__global__ void __launch_bounds__(kThreadsX* kThreadsY)
    color_subsample_kernel(Source source, const __grid_constant__ ColorSubsampleArgs a,
                           int first_row, int last_row) {
  const int cx = static_cast<int>(blockIdx.x * kThreadsX + threadIdx.x);
  if (cx >= a.plane[1].width) return;
  const int last_x = a.frame.width - 1, last_y = a.frame.height - 1;
  const int step = static_cast<int>(gridDim.y) * kThreadsY;
  for (int cy = first_row + static_cast<int>(blockIdx.y * kThreadsY + threadIdx.y); cy < last_row;
       cy += step) {
    int cb = 0, cr = 0;
#pragma unroll
    for (int i = 0; i < kV; ++i) {
      const int y = cy * kV + i;
      std::uint8_t* luma = a.plane[0].data + y * a.plane[0].stride_bytes;
#pragma unroll
      for (int j = 0; j < kH; ++j) {
        const int x = cx * kH + j;
        const Ycc ycc = source.pixel(min(x, last_x), min(y, last_y));
        if (y <= last_y && x < a.plane[0].width) luma[x] = ycc.y;
        cb += ycc.cb;
        cr += ycc.cr;
      }
    }
    a.plane[1].data[cy * a.plane[1].stride_bytes + cx] = box_mean(cb, kH, kV, cx);
    a.plane[2].data[cy * a.plane[2].stride_bytes + cx] = box_mean(cr, kH, kV, cx);
  }
}

template <typename Source>
__global__ void __launch_bounds__(kThreadsX* kThreadsY)
    luma_kernel(Source source, const __grid_constant__ ColorSubsampleArgs a, int last_row) {
  const int x = static_cast<int>(blockIdx.x * kThreadsX + threadIdx.x);
  if (x >= a.plane[0].width) return;
  const int step = static_cast<int>(gridDim.y) * kThreadsY;
  for (int y = a.first_row + static_cast<int>(blockIdx.y * kThreadsY + threadIdx.y); y < last_row;
       y += step)
    a.plane[0].data[y * a.plane[0].stride_bytes + x] = source.luma(min(x, a.frame.width - 1), y);
}

dim3 grid_for(int width, int rows) {
  return {grid_size(width, kThreadsX), grid_size(rows, kThreadsY, kMaxGridY), 1};
}

/// Null if chroma is not down-sampled so.
template <typename Source>
auto kernel_for(int h, int v) -> decltype(&color_subsample_kernel<1, 1, Source>) {
  if (v == 1 && h == 4) return color_subsample_kernel<4, 1, Source>;
  if (v == 1 && h == 2) return color_subsample_kernel<2, 1, Source>;
  if (v == 1 && h == 1) return color_subsample_kernel<1, 1, Source>;
  if (v == 2 && h == 2) return color_subsample_kernel<2, 2, Source>;
  if (v == 2 && h == 1) return color_subsample_kernel<1, 2, Source>;
  return nullptr;
}

template <typename Source>
Status launch(const Source& source, const ColorSubsampleArgs& a, cudaStream_t stream) {
  const dim3 threads(kThreadsX, kThreadsY);
  const int last_row = std::min(a.first_row + a.row_count, a.frame.height);
  if (last_row <= a.first_row) return Status::ok();
  if (a.components == 1) {
    ZR_LAUNCH(luma_kernel, grid_for(a.plane[0].width, last_row - a.first_row), threads, stream,
              source, a, last_row);
    return Status::ok();
  }
  const auto color_subsample = kernel_for<Source>(a.h_max, a.v_max);
  if (color_subsample == nullptr)
    return Status(Errc::invalid_argument, "no down-sampling by such factors");
  const int first = a.first_row / a.v_max, last = ceil_div(last_row, a.v_max);
  ZR_LAUNCH(color_subsample, grid_for(a.plane[1].width, last - first), threads, stream, source, a,
            first, last);
  return Status::ok();
}

YccSource ycc_source(const ConstFrameView& frame) {
  const LumaAccess luma = luma_access(frame.format);
  YccSource source{};
  source.y_data = frame.data[0] + luma.offset;
  source.y_stride = frame.stride_bytes[0];
  source.y_step = luma.step;
  if (frame.format == PixelFormat::gray8) return source;
  const ChromaAccess chroma = chroma_access(frame.format);
  const auto cb = static_cast<std::size_t>(chroma.cb_plane);
  const auto cr = static_cast<std::size_t>(chroma.cr_plane);
  source.cb_data = frame.data[cb] + chroma.cb_offset;
  source.cr_data = frame.data[cr] + chroma.cr_offset;
  source.cb_stride = frame.stride_bytes[cb];
  source.cr_stride = frame.stride_bytes[cr];
  source.step = chroma.step;
  source.shift_x = chroma.shift_x;
  source.shift_y = chroma.shift_y;
  return source;
}

}  // namespace

Status color_subsample_cuda(const ColorSubsampleArgs& a, Exec& exec) {
  if (!is_rgb(a.frame.format)) return launch(ycc_source(a.frame), a, stream_of(exec));
  const RgbSource source{a.frame.data[0], a.frame.stride_bytes[0], rgb_order(a.frame.format)};
  return launch(source, a, stream_of(exec));
}

}  // namespace zerorun
