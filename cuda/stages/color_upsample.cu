// CUDA twin of codec/decode/color_upsample.cpp. A thread makes one pixel, the pixels that share one
// chroma sample of the frame, or sixteen of a row of RGB, NV12 and NV21.
// SPDX-License-Identifier: MIT
#include "codec/decode/color_upsample.hpp"

#include <algorithm>
#include <optional>

#include "codec/arith/color.hpp"
#include "codec/arith/host_device.hpp"
#include "codec/base/pixel_rows.hpp"
#include "cuda/base/launch.hpp"
#include "cuda/base/scratch.hpp"
#include "cuda/stages/run_of_words.cuh"

namespace zerorun {
namespace {

// Sixteen pixels of a row at once: YCbCr planes -> RGB in registers, for the samplings of nearly
// all streams. A word holds Cb in its lower and Cr in its upper half: the sums of the filters have
// 12 bits at most, so that the functions of arith/color.hpp work on both halves at once.

constexpr bool filters_rows(UpsampleFilter f) {
  return f == UpsampleFilter::fancy_1x2 || f == UpsampleFilter::fancy_2x2;
}
/// `repeat` stands for repeating each sample of a row once.
constexpr int pixels_per_sample(UpsampleFilter f) {
  return f == UpsampleFilter::copy || f == UpsampleFilter::fancy_1x2 ? 1 : 2;
}

/// kCount samples from column x on, four in a word. Samples after the last column repeat it;
/// `vectors` says that there are none of them and that the memory is aligned to 8.
template <int kCount>
__device__ void load_samples(const ConstPlaneView& plane, int x, int y, bool vectors,
                             std::uint32_t (&out)[kCount / 4]) {
  static_assert(kCount % 8 == 0);
  const std::uint8_t* const row = plane.data + y * plane.stride_bytes;
  if (vectors) {
#pragma unroll
    for (int i = 0; i < kCount / 8; ++i) {
      const uint2 two = reinterpret_cast<const uint2*>(row + x)[i];
      out[2 * i] = two.x;
      out[2 * i + 1] = two.y;
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    const std::uint32_t sample = row[min(x + i, plane.width - 1)];
    out[i / 4] = (i % 4 == 0 ? 0 : out[i / 4]) | sample << i % 4 * 8;
  }
}

/// What the sums of a filter are multiplied by, so that the upper byte of a half is the sample. Not
/// of filters that sum nothing: the lower byte is the sample.
constexpr std::uint32_t sum_scale(UpsampleFilter f) {
  if (f == UpsampleFilter::fancy_2x2) return 16;
  return f == UpsampleFilter::fancy_2x1 || f == UpsampleFilter::fancy_1x2 ? 64 : 1;
}

/// Samples of both chroma planes, from the one before `x` to the one after the last.
template <int kCount>
struct ChromaRow {
  std::uint32_t both[kCount + 2];  ///< Cb and Cr

  ChromaRow() = default;
  __device__ ChromaRow(const ConstPlaneView& cb, const ConstPlaneView& cr, int x, int y,
                       bool vectors) {
    std::uint32_t b[kCount / 4], r[kCount / 4];
    load_samples<kCount>(cb, x, y, vectors, b);
    load_samples<kCount>(cr, x, y, vectors, r);
#pragma unroll
    for (int i = 0; i < kCount; i += 2) {
      const std::uint32_t two = __byte_perm(b[i / 4], r[i / 4], i % 4 == 0 ? 0x5140 : 0x7362);
      both[i + 1] = __byte_perm(two, 0, 0x4140);
      both[i + 2] = __byte_perm(two, 0, 0x4342);
    }
    const auto at = [&](int column) {
      return cb.data[y * cb.stride_bytes + column] |
             static_cast<std::uint32_t>(cr.data[y * cr.stride_bytes + column]) << 16;
    };
    both[0] = at(max(x - 1, 0));
    both[kCount + 1] = at(min(x + kCount, cb.width - 1));
  }
};

/// The rows of pixels that one or two rows of chroma give.
template <UpsampleFilter kFilter>
constexpr int kRowsOfChroma = filters_rows(kFilter) ? 2 : 1;

constexpr std::uint32_t kTwice = 0x00010001;  // the same for Cb and Cr

/// Chroma above and below the pixels of a thread, filtered from row to row.
template <UpsampleFilter kFilter>
struct ChromaRows {
  static constexpr int kRows = kRowsOfChroma<kFilter>;
  static constexpr int kAcross = pixels_per_sample(kFilter), kCount = kWidePixels / kAcross;
  static constexpr std::uint32_t kScale = sum_scale(kFilter);

  ChromaRow<kCount> row[kRows];

  /// For the picture's rows 2 * group - 1 and 2 * group, which lie between the same two of chroma,
  /// or for row `group`, whose chroma is `near_y`.
  __device__ void load(const ConstPlaneView& cb, const ConstPlaneView& cr, int x, int group,
                       int near_y, bool vectors) {
    if constexpr (kRows == 2) {
      const ChromaRow<kCount> above(cb, cr, x / kAcross, max(group - 1, 0), vectors);
      const ChromaRow<kCount> below(cb, cr, x / kAcross, min(group, cb.height - 1), vectors);
      constexpr bool kRounds = kFilter == UpsampleFilter::fancy_1x2;
      constexpr std::uint32_t kOdd = kRounds ? triangle_bias(1) * kScale * kTwice : 0;
      constexpr std::uint32_t kEven = kRounds ? triangle_bias(0) * kScale * kTwice : 0;
#pragma unroll
      for (int i = 0; i < kCount + 2; ++i) {
        row[0].both[i] = triangle(above.both[i], below.both[i]) * kScale + kOdd;
        row[1].both[i] = triangle(below.both[i], above.both[i]) * kScale + kEven;
      }
    } else {
      row[0] = ChromaRow<kCount>(cb, cr, x / kAcross, near_y, vectors);
#pragma unroll
      for (int i = 0; i < kCount + 2; ++i) row[0].both[i] *= kScale;
    }
  }

  /// Cb and Cr of the pixels, as sums.
  __device__ void across(int k, std::uint32_t (&out)[kWidePixels]) const {
    const std::uint32_t(&sums)[kCount + 2] = row[k].both;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const std::uint32_t own = sums[i + 1];
      if constexpr (kAcross == 2 && kFilter != UpsampleFilter::repeat) {
        constexpr bool kDown = kRows == 2;
        constexpr int kEven = kDown ? triangle_2x2_bias(0) : triangle_bias(0);
        constexpr int kOdd = kDown ? triangle_2x2_bias(1) : triangle_bias(1);
        out[2 * i] = triangle(own, sums[i]) + kEven * kScale * kTwice;
        out[2 * i + 1] = triangle(own, sums[i + 2]) + kOdd * kScale * kTwice;
      } else if constexpr (kAcross == 2) {
        out[2 * i] = out[2 * i + 1] = own;
      } else {
        out[i] = own;
      }
    }
  }
};

/// How R or B is made of the one chroma component that it needs.
struct OuterChannel {
  std::uint32_t selection;  ///< of the component's byte of a sum, as __byte_perm() has it
  std::int32_t factor;
  std::int32_t offset;
  std::int32_t in_green;  ///< the factor of the same component in G
};

/// The bytes of a pixel. Of three bytes the first is `first`, the second G.
struct PackedPixels {
  OuterChannel first, last;
  /// For each of four bytes: `first` 0, G 1, `last` 4, or 5 for 255, as __byte_perm() has it.
  std::uint32_t selection;
};

/// `filter` made the sums.
PackedPixels pack_as(const RgbOrder& order, UpsampleFilter filter) {
  std::uint32_t selection = 0;
  for (int byte = 0; byte < 4; ++byte) {
    const unsigned from = byte == order.r ? 0 : byte == order.g ? 1 : byte == order.b ? 4 : 5;
    selection |= from << 4 * byte;
  }
  const unsigned byte = sum_scale(filter) == 1 ? 0 : 1;
  const OuterChannel b{0x4440 + byte, kCbB, kColorHalf - 128 * kCbB, -kCbG};
  const OuterChannel r{0x4442 + byte, kCrR, kColorHalf - 128 * kCrR, -kCrG};
  const bool b_first = order.pixel_bytes == 3 && order.r == 2;
  return {b_first ? b : r, b_first ? r : b, selection};
}

/// A number that the compiler does not know, so that it keeps it in a register: it adds constants
/// with an instruction of their own, and three of a pixel's 26 were those.
__device__ std::int32_t in_register(std::int32_t x) {
  asm("" : "+r"(x));
  return x;
}

struct ColorOffsets {
  std::int32_t first, green, last;
  __device__ explicit ColorOffsets(const PackedPixels& how)
      : first(in_register(how.first.offset)),
        green(in_register(kColorHalf + 128 * (kCbG + kCrG))),
        last(in_register(how.last.offset)) {}
};

/// The upper halves of a and b, each plus a half of y, clamped to a byte.
__device__ std::uint32_t add_and_clamp(std::int32_t a, std::int32_t b, std::uint32_t y) {
  const auto upper = [](std::uint32_t lower, std::uint32_t higher) {
    return __byte_perm(lower, higher, 0x7632);
  };
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900  // no instruction for it; y goes first
  return __vimin_s16x2_relu(upper(static_cast<std::uint32_t>(a) + (y << 16),
                                  static_cast<std::uint32_t>(b) + (y & 0xFFFF0000)),
                            0x00FF00FF);
#else
  return __viaddmin_s16x2_relu(upper(static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b)),
                               y, 0x00FF00FF);
#endif
}

/// ycc_to_rgb() (arith/color.hpp) of four pixels, packed. Test: ColorUpsampleParity.EveryColour,
/// all 2^24 inputs.
template <int kBytes>
__device__ void pack_four(const PackedPixels& how, const ColorOffsets& offsets, std::uint32_t luma,
                          const std::uint32_t* chroma, std::uint32_t* out) {
  std::int32_t first[4], green[4], last[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const auto a = static_cast<std::int32_t>(__byte_perm(chroma[i], 0, how.first.selection));
    const auto b = static_cast<std::int32_t>(__byte_perm(chroma[i], 0, how.last.selection));
    first[i] = a * how.first.factor + offsets.first;
    last[i] = b * how.last.factor + offsets.last;
    green[i] = a * how.first.in_green + (b * how.last.in_green + offsets.green);
  }
  std::uint32_t lower[2], upper[2];  // of two pixels: first and G; last
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const std::uint32_t y = __byte_perm(luma, 0, i == 0 ? 0x4140 : 0x4342);
    lower[i] = add_and_clamp(green[2 * i], green[2 * i + 1], y) * 256 +
               add_and_clamp(first[2 * i], first[2 * i + 1], y);
    upper[i] = add_and_clamp(last[2 * i], last[2 * i + 1], y);
  }
  if constexpr (kBytes == 3) {
    out[0] = __byte_perm(lower[0], upper[0], 0x2410);
    out[1] = __byte_perm(__byte_perm(lower[0], upper[0], 0x0063), lower[1], 0x5410);
    out[2] = __byte_perm(upper[1], lower[1], 0x2760);
  } else {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const std::uint32_t spare = upper[i] | 0xFF00FF00;
      constexpr std::uint32_t kSecond = 0x2222;
      out[2 * i] = __byte_perm(lower[i], spare, how.selection);
      out[2 * i + 1] = __byte_perm(lower[i], spare, how.selection + kSecond);
    }
  }
}

constexpr int kTileWidth = 32, kTileHeight = 8;
/// Warps of a CTA of wide_rgb_kernel: 3840x2160 from 4:2:0 takes 11.8 us, 12.4 with 8, 12.3 with 1
/// (H200).
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

/// For the usual samplings. A warp makes runs of one or two rows, a lane sixteen pixels of each:
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

/// Where a YCbCr or grey frame keeps its samples, and how many pixels share a chroma sample.
struct YccFrame {
  Samples y, cb, cr;  ///< without data for grey's chroma
  std::int32_t h, v;
  bool packed;  ///< luma of the last group repeats the last pixel (YUYV, UYVY)
};

/// `as_stored`: the frame has the stream's luma, and its chroma, which goes through no filter.
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
          ycc.y = static_cast<std::uint8_t>(upsample(p.component[0], x, y));
        else
          ycc = ycc_at(p, x, y);
        sum_cb += ycc.cb;
        sum_cr += ycc.cr;
        if (cy * frame.v + i < p.last_row && (frame.packed || cx * frame.h + j < p.width))
          frame.y.at(cx * frame.h + j, cy * frame.v + i) = ycc.y;
      }
    if (frame.cb.data == nullptr) continue;
    const auto stored = [&](int c) {
      return static_cast<std::uint8_t>(sample(p.component[c].plane, cx, cy));
    };
    frame.cb.at(cx, cy) = as_stored ? stored(1) : box_mean(sum_cb, frame.h, frame.v, cx);
    frame.cr.at(cx, cy) = as_stored ? stored(2) : box_mean(sum_cr, frame.h, frame.v, cx);
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
  if (frame.format == PixelFormat::gray8)
    return {samples_of(frame, 0, luma.offset, luma.step), {}, {}, 1, 1, false};
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
  if (a.components > kMaxComponents) return Status(Errc::component_count);
  const Picture picture = make_picture(a);
  if (picture.first_row >= picture.last_row) return Status::ok();
  const cudaStream_t stream = stream_of(exec);
  const dim3 threads(kTileWidth, kTileHeight);
  const auto grid = [&](int columns) {
    return dim3(grid_size(columns, kTileWidth),
                grid_size(picture.last_row - picture.first_row, kTileHeight, 65535));
  };
  if (is_rgb(a.frame.format)) {
    const RgbOrder order = rgb_order(a.frame.format);
    const Samples pixels = samples_of(a.frame, 0, 0, order.pixel_bytes);
    if (const auto filter = wide_filter(picture))
      return convert_wide(picture, pixels, order, *filter, a.skip, stream);
    ZR_LAUNCH(rgb_kernel, grid(a.frame.width), threads, stream, picture, pixels, order, a.skip);
    return Status::ok();
  }
  const bool is_grey = a.frame.format == PixelFormat::gray8;
  const bool as_stored = is_grey ? !picture.rgb : stored_as_wanted(a);
  const bool cr_first = a.frame.format == PixelFormat::nv21;
  if (as_stored && (a.frame.format == PixelFormat::nv12 || cr_first)) {
    ZR_LAUNCH(semi_planar_kernel, grid(ceil_div(a.frame.width, kWidePixels)), threads, stream,
              picture, samples_of(a.frame, 0, 0, 1), samples_of(a.frame, 1, 0, 2), cr_first,
              a.skip);
  } else {
    const YccFrame frame = make_ycc_frame(a.frame);
    ZR_LAUNCH(ycc_kernel, grid(a.frame.width / frame.h + 1), threads, stream, picture, frame,
              as_stored, a.skip);
  }
  return Status::ok();
}

}  // namespace zerorun
