// CUDA twin of codec/decode/color_upsample.cpp. A thread makes one pixel, the pixels that share one
// chroma sample of the frame, or sixteen of a row of RGB, NV12 and NV21.
// SPDX-License-Identifier: MIT
#include "cuda/stages/color_upsample_unless.hpp"

#include <algorithm>
#include <optional>

#include "codec/arith/color.hpp"
#include "codec/arith/integer.hpp"
#include "codec/base/pixel_rows.hpp"
#include "cuda/base/launch.hpp"
#include "cuda/base/scratch.hpp"
#include "cuda/stages/wide_rgb.cuh"

namespace zerorun {
namespace {

constexpr int kTileWidth = 32, kTileHeight = 8;
/// Of wide_rgb_kernel: 3840x2160 from 4:2:0 takes 11.8 us, 12.4 with 8, 12.3 with 1 (H200).
constexpr int kWarps = 4;

/// A component's plane with all that its filter needs.
struct Component {
  ConstPlaneView plane;
  std::int32_t h, v, h_max, v_max;
  UpsampleFilter filter;
};

struct Picture {
  Component component[kMaxComponents];
  std::int32_t components;
  bool rgb;                          ///< the components are R, G and B
  std::int32_t width, height;        ///< of the frame
  std::int32_t first_row, last_row;  ///< last_row is one past the last
  bool aligned;                      ///< planes and their rows, to 8 bytes
};

Picture make_picture(const ColorUpsampleArgs& a) {
  Picture p{};
  p.components = a.components;
  p.rgb = a.model == ColorModel::rgb;
  p.width = a.frame.width;
  p.height = a.frame.height;
  p.first_row = a.first_row;
  p.last_row = std::min(a.first_row + a.row_count, a.frame.height);
  p.aligned = true;
  for (int c = 0; c < a.components; ++c) {
    p.component[c] = {a.plane[c], a.h[c], a.v[c], a.h_max, a.v_max, filter_of(a, c)};
    p.aligned = p.aligned && a.plane[c].stride_bytes % 8 == 0 &&
                reinterpret_cast<std::uintptr_t>(a.plane[c].data) % 8 == 0;
  }
  return p;
}

/// Samples of one kind in a frame: `step` bytes from one to the next.
struct Samples {
  std::uint8_t* data;
  std::int64_t stride;
  std::int32_t step;

  __device__ std::uint8_t& at(int x, int y) const {
    return data[y * stride + std::int64_t{x} * step];
  }
};

__device__ std::int32_t sample(const ConstPlaneView& plane, int x, int y) {
  return plane.data[y * plane.stride_bytes + x];
}

/// The component at a pixel of the picture.
__device__ std::int32_t upsample(const Component& c, int x, int y) {
  const ConstPlaneView& plane = c.plane;
  if (c.filter == UpsampleFilter::copy) return sample(plane, x, y);
  const int cx = nearer(x, c.h, c.h_max), cy = nearer(y, c.v, c.v_max);
  if (c.filter == UpsampleFilter::repeat) return sample(plane, cx, cy);
  const int far_x = further(x, cx, plane.width), far_y = further(y, cy, plane.height);
  if (c.filter == UpsampleFilter::fancy_2x1)
    return (triangle(sample(plane, cx, cy), sample(plane, far_x, cy)) + triangle_bias(x)) >> 2;
  const auto column = [&](int i) {
    return triangle(sample(plane, i, cy), sample(plane, i, far_y));
  };
  if (c.filter == UpsampleFilter::fancy_1x2) return (column(cx) + triangle_bias(y)) >> 2;
  return (triangle(column(cx), column(far_x)) + triangle_2x2_bias(x)) >> 4;
}

/// The components at a pixel, whatever they are; of a grey stream with neutral chroma.
__device__ Ycc stored_at(const Picture& p, int x, int y) {
  const auto component = [&](int c) {
    return static_cast<std::uint8_t>(upsample(p.component[c], x, y));
  };
  if (p.components == 1) return {component(0), 128, 128};
  return {component(0), component(1), component(2)};
}
__device__ Ycc ycc_at(const Picture& p, int x, int y) {
  const Ycc stored = stored_at(p, x, y);
  return p.rgb ? rgb_to_ycc(stored.y, stored.cb, stored.cr) : stored;
}
__device__ Rgb rgb_at(const Picture& p, int x, int y) {
  const Ycc stored = stored_at(p, x, y);
  return p.rgb ? Rgb{stored.y, stored.cb, stored.cr} : ycc_to_rgb(stored.y, stored.cb, stored.cr);
}

__global__ void rgb_kernel(Picture p, Samples pixels, RgbOrder order, const std::uint32_t* skip) {
  const int x = static_cast<int>(blockIdx.x * kTileWidth + threadIdx.x);
  if (x >= p.width || is_skipped(skip)) return;
  for (int y = p.first_row + static_cast<int>(blockIdx.y * kTileHeight + threadIdx.y);
       y < p.last_row; y += static_cast<int>(gridDim.y) * kTileHeight) {
    const Rgb rgb = rgb_at(p, x, y);
    std::uint8_t* out = &pixels.at(x, y);
    if (order.pixel_bytes == 4) out[order.spare()] = 255;
    out[order.r] = rgb.r;
    out[order.g] = rgb.g;
    out[order.b] = rgb.b;
  }
}

/// Of the usual samplings. A warp makes runs of one or two rows, a lane sixteen pixels of each:
/// 16 us under a profiler for 3840x2160 from 4:2:0 (H200), 21 with one row and 119 with a pixel a
/// thread.
template <UpsampleFilter kFilter, int kBytes>
__global__ void __launch_bounds__(32 * kWarps)
    wide_rgb_kernel(Picture p, Samples pixels, PackedPixels how, const std::uint32_t* skip) {
  constexpr int kRun = 32 * kWidePixels, kWords = kWidePixels * kBytes / 4;
  constexpr int kRows = kRowsOfChroma<kFilter>;
  __shared__ RunOfWords<kWords> runs[kWarps];
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  RunOfWords<kWords>& run = runs[warp];
  const int first_x = static_cast<int>(blockIdx.x) * kRun, x = first_x + lane * kWidePixels;
  const bool vectors = p.width - x >= kWidePixels && p.aligned;
  const Component& chroma = p.component[1];
  const ColorOffsets offsets(how);
  const int last_group = kRows == 2 ? p.last_row / 2 : p.last_row - 1;
  wait_for_previous_kernel();
  if (is_skipped(skip)) return;
  for (int group = p.first_row / kRows + static_cast<int>(blockIdx.y) * kWarps + warp;
       group <= last_group; group += static_cast<int>(gridDim.y) * kWarps) {
    ChromaRows<kFilter> rows;
    if (x < p.width)
      rows.load(chroma.plane, p.component[2].plane, x, group, nearer(group, chroma.v, chroma.v_max),
                vectors);
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
      const int y = kRows * group - (kRows - 1) + k;
      if (y < p.first_row || y >= p.last_row) continue;
      if (x < p.width) {
        std::uint32_t luma[kWidePixels / 4], sums[kWidePixels], words[kWords];
        load_samples<kWidePixels>(p.component[0].plane, x, y, vectors, luma);
        rows.across(k, sums);
#pragma unroll
        for (int i = 0; i < kWidePixels / 4; ++i)
          pack_four<kBytes>(how, offsets, luma[i], sums + 4 * i, words + kBytes * i);
        run.put(lane, words);
      }
      __syncwarp();
      run.store(lane, &pixels.at(first_x, y), min(p.width - first_x, kRun) * kBytes);
      __syncwarp();
    }
  }
}

using WideRgbKernel = void (*)(Picture, Samples, PackedPixels, const std::uint32_t*);
template <int kBytes>
WideRgbKernel wide_rgb_kernel_of(UpsampleFilter filter) {
  using F = UpsampleFilter;
  if (filter == F::fancy_1x2) return wide_rgb_kernel<F::fancy_1x2, kBytes>;
  if (filter == F::fancy_2x1) return wide_rgb_kernel<F::fancy_2x1, kBytes>;
  if (filter == F::fancy_2x2) return wide_rgb_kernel<F::fancy_2x2, kBytes>;
  if (filter == F::repeat) return wide_rgb_kernel<F::repeat, kBytes>;
  return wide_rgb_kernel<F::copy, kBytes>;
}

/// The filter of a kernel for the picture, if there is one.
std::optional<UpsampleFilter> wide_filter(const Picture& p) {
  const Component &luma = p.component[0], &cb = p.component[1], &cr = p.component[2];
  if (p.components != 3 || p.rgb || luma.filter != UpsampleFilter::copy) return {};
  if (cb.filter != cr.filter || cb.h != cr.h || cb.v != cr.v) return {};
  if (cb.filter != UpsampleFilter::repeat) return cb.filter;
  if (cb.h == cb.h_max) return UpsampleFilter::copy;  // only rows are repeated
  if (2 * cb.h == cb.h_max) return UpsampleFilter::repeat;
  return {};
}

PackedPixels pack_as(const RgbOrder& order, UpsampleFilter filter) {
  std::uint32_t selection = 0;
  for (int byte = 0; byte < 4; ++byte) {
    const unsigned from = byte == order.r ? 0 : byte == order.g ? 1 : byte == order.b ? 4 : 5;
    selection |= from << 4 * byte;
  }
  return pack_pixels(order.pixel_bytes == 3 && order.r == 2, selection, filter);
}

Status convert_wide(const Picture& p, const Samples& pixels, const RgbOrder& order,
                    UpsampleFilter filter, const std::uint32_t* skip, cudaStream_t stream) {
  const WideRgbKernel kernel =
      order.pixel_bytes == 3 ? wide_rgb_kernel_of<3>(filter) : wide_rgb_kernel_of<4>(filter);
  const int rows = p.last_row - p.first_row, groups = filters_rows(filter) ? rows / 2 + 1 : rows;
  const LaunchShape shape{grid_size(p.width, 32 * kWidePixels), 32 * kWarps, 0,
                          grid_size(groups, kWarps, 65535)};
  ZR_CUDA_TRY(launch_behind(kernel, shape, stream, p, pixels, pack_as(order, filter), skip));
  return Status::ok();
}

__global__ void gray_kernel(Picture p, Samples luma, const std::uint32_t* skip) {
  const int x = static_cast<int>(blockIdx.x * kTileWidth + threadIdx.x);
  if (x >= p.width || is_skipped(skip)) return;
  for (int y = p.first_row + static_cast<int>(blockIdx.y * kTileHeight + threadIdx.y);
       y < p.last_row; y += static_cast<int>(gridDim.y) * kTileHeight)
    luma.at(x, y) =
        p.rgb ? ycc_at(p, x, y).y : static_cast<std::uint8_t>(upsample(p.component[0], x, y));
}

/// Where a YCbCr frame keeps its samples, and how many pixels share a chroma sample.
struct YccFrame {
  Samples y, cb, cr;
  std::int32_t h, v;
  bool packed;  ///< luma of the last group repeats the last pixel (YUYV, UYVY)
};

/// `as_stored`: the stream has the frame's sampling, chroma goes through no filter.
__global__ void ycc_kernel(Picture p, YccFrame frame, bool as_stored, const std::uint32_t* skip) {
  const int cx = static_cast<int>(blockIdx.x * kTileWidth + threadIdx.x);
  if (cx * frame.h >= p.width || is_skipped(skip)) return;
  const int last_cy = ceil_div(p.last_row, frame.v);
  for (int cy = p.first_row / frame.v + static_cast<int>(blockIdx.y * kTileHeight + threadIdx.y);
       cy < last_cy; cy += static_cast<int>(gridDim.y) * kTileHeight) {
    int sum_cb = 0, sum_cr = 0;
    for (int i = 0; i < frame.v; ++i)
      for (int j = 0; j < frame.h; ++j) {
        // Pixels beyond the edge repeat the last ones.
        const int x = min(cx * frame.h + j, p.width - 1), y = min(cy * frame.v + i, p.height - 1);
        Ycc ycc{};
        if (as_stored)
          ycc.y = static_cast<std::uint8_t>(sample(p.component[0].plane, x, y));
        else
          ycc = ycc_at(p, x, y);
        sum_cb += ycc.cb;
        sum_cr += ycc.cr;
        if (cy * frame.v + i < p.last_row && (frame.packed || cx * frame.h + j < p.width))
          frame.y.at(cx * frame.h + j, cy * frame.v + i) = ycc.y;
      }
    if (as_stored) {
      frame.cb.at(cx, cy) = static_cast<std::uint8_t>(sample(p.component[1].plane, cx, cy));
      frame.cr.at(cx, cy) = static_cast<std::uint8_t>(sample(p.component[2].plane, cx, cy));
    } else {
      frame.cb.at(cx, cy) = box_mean(sum_cb, frame.h, frame.v, cx);
      frame.cr.at(cx, cy) = box_mean(sum_cr, frame.h, frame.v, cx);
    }
  }
}

/// NV12 and NV21 with the stream's sampling, which goes through no filter. A lane copies sixteen
/// columns of two rows: this adds 20 us to a picture of 3840x2160 (H200), the kernel above 50.
__global__ void __launch_bounds__(kTileWidth* kTileHeight)
    semi_planar_kernel(Picture p, Samples luma, Samples pairs, bool cr_first,
                       const std::uint32_t* skip) {
  if (is_skipped(skip)) return;
  constexpr int kRun = kTileWidth * kWidePixels;
  __shared__ RunOfWords<kWidePixels / 4> runs[kTileHeight];
  RunOfWords<kWidePixels / 4>& run = runs[threadIdx.y];
  const int lane = static_cast<int>(threadIdx.x);
  const int first_x = static_cast<int>(blockIdx.x) * kRun, x = first_x + lane * kWidePixels;
  const bool vectors = p.width - x >= kWidePixels && p.aligned;
  const auto put = [&](Samples to, int column, int y, int bytes,
                       const std::uint32_t(&words)[kWidePixels / 4]) {
    run.put(lane, words);
    __syncwarp();
    run.store(lane, &to.at(column, y), bytes);
    __syncwarp();
  };
  const int last_cy = ceil_div(p.last_row, 2);
  for (int cy = p.first_row / 2 + static_cast<int>(blockIdx.y * kTileHeight + threadIdx.y);
       cy < last_cy; cy += static_cast<int>(gridDim.y) * kTileHeight) {
    std::uint32_t words[kWidePixels / 4] = {};
    for (int y = 2 * cy; y < min(2 * cy + 2, p.last_row); ++y) {
      if (x < p.width) load_samples<kWidePixels>(p.component[0].plane, x, y, vectors, words);
      put(luma, first_x, y, min(p.width - first_x, kRun), words);
    }
    if (x < p.width) {
      std::uint32_t cb[kWidePixels / 8], cr[kWidePixels / 8];
      load_samples<kWidePixels / 2>(p.component[cr_first ? 2 : 1].plane, x / 2, cy, vectors, cb);
      load_samples<kWidePixels / 2>(p.component[cr_first ? 1 : 2].plane, x / 2, cy, vectors, cr);
#pragma unroll
      for (int i = 0; i < kWidePixels / 4; ++i)
        words[i] = __byte_perm(cb[i / 2], cr[i / 2], i % 2 == 0 ? 0x5140 : 0x7362);
    }
    put(pairs, first_x / 2, cy, min((p.width + 1) / 2 * 2 - first_x, kRun), words);
  }
}

Samples samples_of(const FrameView& frame, int plane, int offset, int step) {
  const auto p = static_cast<std::size_t>(plane);
  return {frame.data[p] + offset, frame.stride_bytes[p], step};
}

YccFrame make_ycc_frame(const FrameView& frame) {
  const LumaAccess luma = luma_access(frame.format);
  const ChromaAccess chroma = chroma_access(frame.format);
  return {samples_of(frame, 0, luma.offset, luma.step),
          samples_of(frame, chroma.cb_plane, chroma.cb_offset, chroma.step),
          samples_of(frame, chroma.cr_plane, chroma.cr_offset, chroma.step),
          1 << chroma.shift_x,
          1 << chroma.shift_y,
          luma.step == 2};
}

}  // namespace

Status color_upsample_cuda(const ColorUpsampleArgs& a, Exec& exec) {
  return color_upsample_unless(nullptr, a, exec);
}

Status color_upsample_unless(const std::uint32_t* skip, const ColorUpsampleArgs& a, Exec& exec) {
  const Picture picture = make_picture(a);
  if (picture.first_row >= picture.last_row) return Status::ok();
  const cudaStream_t stream = stream_of(exec);
  const bool is_semi_planar =
      a.frame.format == PixelFormat::nv12 || a.frame.format == PixelFormat::nv21;
  const dim3 threads(kTileWidth, kTileHeight);
  const auto grid = [&](int columns) {
    return dim3(grid_size(columns, kTileWidth),
                grid_size(picture.last_row - picture.first_row, kTileHeight, 65535));
  };
  if (is_rgb(a.frame.format)) {
    const RgbOrder order = rgb_order(a.frame.format);
    const Samples pixels = samples_of(a.frame, 0, 0, order.pixel_bytes);
    if (const auto filter = wide_filter(picture))
      return convert_wide(picture, pixels, order, *filter, skip, stream);
    ZR_LAUNCH(rgb_kernel, grid(a.frame.width), threads, stream, picture, pixels, order, skip);
  } else if (a.frame.format == PixelFormat::gray8) {
    ZR_LAUNCH(gray_kernel, grid(a.frame.width), threads, stream, picture,
              samples_of(a.frame, 0, 0, 1), skip);
  } else if (is_semi_planar && stored_as_wanted(a)) {
    ZR_LAUNCH(semi_planar_kernel, grid(ceil_div(a.frame.width, kWidePixels)), threads, stream,
              picture, samples_of(a.frame, 0, 0, 1), samples_of(a.frame, 1, 0, 2),
              a.frame.format == PixelFormat::nv21, skip);
  } else {
    const YccFrame frame = make_ycc_frame(a.frame);
    ZR_LAUNCH(ycc_kernel, grid(a.frame.width / frame.h + 1), threads, stream, picture, frame,
              stored_as_wanted(a), skip);
  }
  return Status::ok();
}

}  // namespace zerorun
