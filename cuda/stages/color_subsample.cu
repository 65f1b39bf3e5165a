// CUDA twin of codec/encode/color_subsample.cpp. One thread makes one chroma sample of each
// component and the luma samples that it covers.
// SPDX-License-Identifier: MIT
#include "codec/encode/color_subsample.hpp"

#include <algorithm>

#include "codec/arith/color.hpp"
#include "codec/base/pixel_rows.hpp"
#include "cuda/base/launch.hpp"
#include "cuda/base/scratch.hpp"
#include "cuda/stages/run_of_words.cuh"
#include "cuda/stages/stages_cuda.hpp"

namespace zerorun {
namespace {

// Sixteen packed pixels of a row at once: RGB in registers -> Y, and Cb and Cr of boxes of them. A
// word holds Cb in its lower and Cr in its upper half: box_mean() of arith/color.hpp for both.

/// Factors of the bytes of a pixel in 16.16 fixed point: those of bytes 0 and 1 in `low`, of 2 and
/// 3 in `high`, the first in the lower half. Those of Cb and Cr are negative, because -32768 has 16
/// bits and 32768 has not.
struct PixelFactors {
  std::uint32_t low, high;
};
struct YccFactors {
  PixelFactors y, cb, cr;
};

YccFactors factors_of(const RgbOrder& order) {
  constexpr std::int32_t kHalf = color_fix(0.50000);
  const auto place = [&order](std::int32_t r, std::int32_t g, std::int32_t b) {
    std::uint32_t factor[4] = {};
    factor[order.r] = static_cast<std::uint16_t>(r);
    factor[order.g] = static_cast<std::uint16_t>(g);
    factor[order.b] = static_cast<std::uint16_t>(b);
    return PixelFactors{factor[0] | factor[1] << 16, factor[2] | factor[3] << 16};
  };
  return {place(color_fix(0.29900), color_fix(0.58700), color_fix(0.11400)),
          place(color_fix(0.16874), color_fix(0.33126), -kHalf),
          place(-kHalf, color_fix(0.41869), color_fix(0.08131))};
}

/// sum + the factors times a pixel's four bytes. Factors are unsigned for Y, signed for Cb and Cr.
__device__ std::uint32_t add_unsigned(const PixelFactors& factors, std::uint32_t pixel,
                                      std::uint32_t sum) {
  return __dp2a_hi(factors.high, pixel, __dp2a_lo(factors.low, pixel, sum));
}
__device__ std::uint32_t add_signed(const PixelFactors& factors, std::uint32_t pixel,
                                    std::uint32_t sum) {
  // No function of CUDA takes signed factors and unsigned bytes.
  asm("dp2a.lo.s32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(factors.low), "r"(pixel));
  asm("dp2a.hi.s32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(factors.high), "r"(pixel));
  return sum;
}

/// Pixel i of a lane's words, in the lower three bytes or in all four. What the factors of a fourth
/// byte are 0 for may be anything.
template <int kBytes>
__device__ std::uint32_t pixel_of(const std::uint32_t (&words)[kWidePixels * kBytes / 4], int i) {
  if constexpr (kBytes == 4) return words[i];
  const int at = 3 * i, word = at / 4, shift = at % 4;
  if (shift <= 1) return words[word] >> 8 * shift;
  return __funnelshift_r(words[word], words[word + 1], static_cast<unsigned>(8 * shift));
}

// These equal rgb_to_ycc() (arith/color.hpp). All 2^24 inputs: ColorSubsampleParity.EveryColour.

/// Y of a pixel in bits 16 to 23; above them 0, below them the next carry.
__device__ std::uint32_t y_of(const YccFactors& f, std::uint32_t pixel, std::uint32_t carry) {
  return add_unsigned(f.y, pixel, carry & 0xFFFF);
}
/// The complement of Cb or Cr in the upper half, and of the next carry in the lower one: minus a
/// sum less one is its complement, so that offset - s = ~(s - offset - 1) = ~(s + ~offset).
__device__ std::uint32_t chroma_of(const PixelFactors& f, std::uint32_t pixel,
                                   std::uint32_t not_carry) {
  return add_signed(f, pixel, (not_carry & 0xFFFF) | ~(128u << kColorBits | 0xFFFF));
}

/// Bytes 2 of four words.
__device__ std::uint32_t third_bytes(std::uint32_t a, std::uint32_t b, std::uint32_t c,
                                     std::uint32_t d) {
  return __byte_perm(__byte_perm(a, b, 0x0062), __byte_perm(c, d, 0x0062), 0x5410);
}
/// The lower (upper) halves of four words, a byte each.
__device__ std::uint32_t lower_bytes(const std::uint32_t* words) {
  return __byte_perm(__byte_perm(words[0], words[1], 0x0040),
                     __byte_perm(words[2], words[3], 0x0040), 0x5410);
}
__device__ std::uint32_t upper_bytes(const std::uint32_t* words) {
  return third_bytes(words[0], words[1], words[2], words[3]);
}

/// A row of a lane's pixels: Y, and the sums of Cb and of Cr over kH neighbours, which are added to
/// `chroma`. kShaped: with noise shaping.
template <int kBytes, int kH, bool kShaped>
__device__ void convert_row(const YccFactors& f,
                            const std::uint32_t (&words)[kWidePixels * kBytes / 4], int row,
                            std::uint32_t (&luma)[kWidePixels / 4],
                            std::uint32_t (&chroma)[kWidePixels / kH]) {
  static_assert(kShapedPixels == 4);
  const Carry first = first_carry(row, kShaped);
  std::uint32_t y[4], cb = 0, cr = 0;
#pragma unroll
  for (int i = 0; i < kWidePixels; ++i) {
    const std::uint32_t pixel = pixel_of<kBytes>(words, i);
    const bool begins = !kShaped || i % 4 == 0;
    y[i % 4] = y_of(f, pixel, begins ? first.y : y[(i + 3) % 4]);
    cb = chroma_of(f.cb, pixel, begins ? ~first.cb : cb);
    cr = chroma_of(f.cr, pixel, begins ? ~first.cr : cr);
    const std::uint32_t both = ~__byte_perm(cb, cr, 0x7632);
    chroma[i / kH] += kShaped ? __vminu2(both, 0x00FF00FF) : both;
    if (i % 4 == 3) luma[i / 4] = third_bytes(y[0], y[1], y[2], y[3]);
  }
}

/// box_mean() of both halves.
template <int kH, int kV>
__device__ std::uint32_t both_means(std::uint32_t sums, int x) {
  constexpr std::uint32_t kTwice = 0x00010001;
  const auto bias = static_cast<std::uint32_t>(kH == 2 ? kV - 1 + (x & 1) : kH * kV / 2);
  return (sums + bias * kTwice) >> kH * kV / 2 & 0x00FF00FF;
}

// A warp covers one run of a row, so that its bytes come from neighbouring sectors.
constexpr int kThreadsX = 32, kThreadsY = 8;
constexpr unsigned kMaxGridY = 65535;

__device__ int row_of_thread() { return static_cast<int>(blockIdx.y * kThreadsY + threadIdx.y); }
__device__ int row_step() { return static_cast<int>(gridDim.y) * kThreadsY; }

/// Rows of chroma.
struct ChromaRows {
  int first, last;  ///< one past the last
  int count() const { return last - first; }
};
ChromaRows rows_of(const ColorSubsampleArgs& a) {
  const int last_row = std::min(a.first_row + a.row_count, a.frame.height);
  return {a.first_row / a.v_max, ceil_div(last_row, a.v_max)};
}

/// Packed RGB of any byte order.
struct RgbSource {
  const std::uint8_t* data;
  std::int64_t stride;
  RgbOrder order;
  bool shapes_noise;

  __device__ Ycc pixel(int x, int y) const {
    Carry carry{};
    for (int at = shapes_noise ? x / kShapedPixels * kShapedPixels : x;; ++at) {
      const std::uint8_t* p = data + y * stride + std::int64_t{at} * order.pixel_bytes;
      if (!shapes_noise || at % kShapedPixels == 0) carry = first_carry(y, shapes_noise);
      const Ycc ycc = rgb_to_ycc(p[order.r], p[order.g], p[order.b], carry);
      if (at == x) return ycc;
    }
  }
};

/// Planar, semi-planar and packed YCbCr; without chroma planes grey.
struct YccSource {
  const std::uint8_t* data[3];
  std::int64_t stride[3];
  int step[3], shift_x, shift_y;

  __device__ std::uint8_t sample(int c, int x, int y) const {
    return data[c][y * stride[c] + std::int64_t{x} * step[c]];
  }
  __device__ Ycc pixel(int x, int y) const {
    const std::uint8_t luma = sample(0, x, y);
    if (data[1] == nullptr) return {luma, 128, 128};
    const int column = x >> shift_x, row = y >> shift_y;
    return {luma, sample(1, column, row), sample(2, column, row)};
  }
};

/// Makes one sample of each chroma component, and the luma samples that it covers. Chroma that the
/// frame has at the wanted resolution already comes through the box filter unchanged. Luma that is
/// not wanted has a plane without width.
template <int kH, int kV, typename Source>
__device__ void subsample_at(const Source& source, const ColorSubsampleArgs& a, int cx, int cy,
                             const PlaneOffsets& offset = {}) {
  const int last_x = a.frame.width - 1, last_y = a.frame.height - 1;
  int cb = 0, cr = 0;
#pragma unroll
  for (int i = 0; i < kV; ++i) {
    const int y = cy * kV + i;
    std::uint8_t* luma = a.plane[0].data + offset.of[0] + y * a.plane[0].stride_bytes;
#pragma unroll
    for (int j = 0; j < kH; ++j) {
      const int x = cx * kH + j;
      const Ycc ycc = source.pixel(min(x, last_x), min(y, last_y));
      if (y <= last_y && x < a.plane[0].width) luma[x] = ycc.y;
      cb += ycc.cb;
      cr += ycc.cr;
    }
  }
  if (kH == 1 && kV == 1 && a.plane[1].data == nullptr) return;  // a grey stream
  a.plane[1].data[offset.of[1] + cy * a.plane[1].stride_bytes + cx] = box_mean(cb, kH, kV, cx);
  a.plane[2].data[offset.of[2] + cy * a.plane[2].stride_bytes + cx] = box_mean(cr, kH, kV, cx);
}

template <int kH, int kV, typename Source>
__global__ void __launch_bounds__(kThreadsX* kThreadsY)
    color_subsample_kernel(Source source, const __grid_constant__ ColorSubsampleArgs a,
                           ChromaRows rows) {
  const int cx = static_cast<int>(blockIdx.x * kThreadsX + threadIdx.x);
  if (cx >= a.plane[1].width) return;
  for (int cy = rows.first + row_of_thread(); cy < rows.last; cy += row_step())
    subsample_at<kH, kV>(source, a, cx, cy);
}

/// Frames of one launch, and from the planes of one to those of the next.
struct FramesOfLaunch {
  static constexpr std::size_t kMost = 32;
  const std::uint8_t* data[kMost];
  std::int64_t stride[kMost];
  PlaneOffsets step;
};

/// The usual samplings of packed RGB: a warp makes a run of the rows that share chroma, a lane
/// sixteen columns; the columns of the last lane that has fewer are made one by one. 3840x2160 to a
/// stream, eight frames at once: 37 us, and 45 by the kernel above (H200).
template <int kH, int kV, int kBytes, bool kShaped>
__global__ void __launch_bounds__(kThreadsX* kThreadsY, kShaped ? 3 : 4)
    wide_subsample_kernel(const __grid_constant__ FramesOfLaunch frames, RgbOrder order,
                          YccFactors factors, const __grid_constant__ ColorSubsampleArgs a,
                          ChromaRows rows) {
  constexpr int kWords = kWidePixels * kBytes / 4, kRun = kThreadsX * kWidePixels;
  static_assert(kThreadsX == 32);
  __shared__ RunOfWords<kWords> runs[kThreadsY][kV];
  const unsigned number = blockIdx.z;
  const RgbSource source{frames.data[number], frames.stride[number], order, kShaped};
  const PlaneOffsets offset{
      {number * frames.step.of[0], number * frames.step.of[1], number * frames.step.of[2]}};
  const int lane = static_cast<int>(threadIdx.x);
  const int first_x = static_cast<int>(blockIdx.x) * kRun, x = first_x + lane * kWidePixels;
  const int bytes = min(a.frame.width - first_x, kRun) * kBytes;
  const bool whole = x + kWidePixels <= a.frame.width;
  const int rest_x =
      first_x + min(max(a.frame.width - first_x, 0), kRun) / kWidePixels * kWidePixels;
  for (int cy = rows.first + row_of_thread(); cy < rows.last; cy += row_step()) {
    const auto row = [&](int i) { return min(cy * kV + i, a.frame.height - 1); };
    const auto from = [&](int i) {
      return source.data + row(i) * source.stride + std::int64_t{first_x} * kBytes;
    };
#pragma unroll
    for (int i = 0; i < kV; ++i) runs[threadIdx.y][i].load(lane, from(i), bytes);
    RunOfWords<kWords>::finish_loads();
    std::uint32_t chroma[kWidePixels / kH] = {};
#pragma unroll
    for (int i = 0; i < kV; ++i) {
      if (!whole) break;
      std::uint32_t words[kWords], luma[kWidePixels / 4];
      runs[threadIdx.y][i].get(lane, RunOfWords<kWords>::lead_of(from(i)), words);
      convert_row<kBytes, kH, kShaped>(factors, words, row(i), luma, chroma);
      auto* const to = reinterpret_cast<uint2*>(a.plane[0].data + offset.of[0] +
                                                row(i) * a.plane[0].stride_bytes + x);
      to[0] = {luma[0], luma[1]};
      to[1] = {luma[2], luma[3]};
    }
    __syncwarp();
    if (whole) {
      std::uint8_t* const cb =
          a.plane[1].data + offset.of[1] + cy * a.plane[1].stride_bytes + x / kH;
      std::uint8_t* const cr =
          a.plane[2].data + offset.of[2] + cy * a.plane[2].stride_bytes + x / kH;
#pragma unroll
      for (int i = 0; i < kWidePixels / kH; i += 8) {
        std::uint32_t means[8];
#pragma unroll
        for (int j = 0; j < 8; ++j) means[j] = both_means<kH, kV>(chroma[i + j], j);
        *reinterpret_cast<uint2*>(cb + i) = {lower_bytes(means), lower_bytes(means + 4)};
        *reinterpret_cast<uint2*>(cr + i) = {upper_bytes(means), upper_bytes(means + 4)};
      }
    }
    for (int rest = rest_x / kH + lane; rest < min((first_x + kRun) / kH, a.plane[1].width);
         rest += kThreadsX)
      subsample_at<kH, kV>(source, a, rest, cy, offset);
  }
}

/// Plane of CbCr pairs, or of CrCb.
struct ChromaPairs {
  const std::uint8_t* data;
  std::int64_t stride;
  std::int32_t width;  ///< pairs in a row
  bool cr_first;
};

/// Eight pairs from `x` on, as words; the last one of the row is repeated.
__device__ void load_pairs(const ChromaPairs& pairs, int x, int y, std::uint32_t (&out)[4]) {
  const std::uint8_t* const row = pairs.data + y * pairs.stride;
  if (x + 8 <= pairs.width && reinterpret_cast<std::uintptr_t>(row + 2 * x) % 16 == 0) {
    const uint4 four = __ldg(reinterpret_cast<const uint4*>(row + 2 * x));
    out[0] = four.x, out[1] = four.y, out[2] = four.z, out[3] = four.w;
    return;
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const std::uint8_t* const pair = row + 2 * min(x + i, pairs.width - 1);
    const std::uint32_t both = pair[0] | pair[1] << 8;
    out[i / 2] = i % 2 == 0 ? both : out[i / 2] | both << 16;
  }
}

/// For frames whose chroma has the wanted resolution already. A thread makes eight samples of each
/// component; 3840x2160 to a stream takes 30 us so, in NV12, eight frames at once (H200), and 49 by
/// the kernel above.
__global__ void __launch_bounds__(kThreadsX* kThreadsY)
    split_chroma_kernel(ChromaPairs pairs, PlaneView cb, PlaneView cr, int first_row,
                        int last_row) {
  const int x = static_cast<int>(blockIdx.x * kThreadsX + threadIdx.x) * 8;
  if (x >= cb.width) return;
  const int step = row_step();
  for (int y = first_row + row_of_thread(); y < last_row; y += step) {
    std::uint32_t word[4];
    load_pairs(pairs, x, y, word);
    const uint2 even{__byte_perm(word[0], word[1], 0x6420), __byte_perm(word[2], word[3], 0x6420)};
    const uint2 odd{__byte_perm(word[0], word[1], 0x7531), __byte_perm(word[2], word[3], 0x7531)};
    *reinterpret_cast<uint2*>(cb.data + y * cb.stride_bytes + x) = pairs.cr_first ? odd : even;
    *reinterpret_cast<uint2*>(cr.data + y * cr.stride_bytes + x) = pairs.cr_first ? even : odd;
  }
}

dim3 grid_for(int width, int rows) {
  return {grid_size(width, kThreadsX), grid_size(rows, kThreadsY, kMaxGridY), 1};
}

/// Whether 8 divides where the rows of the planes from component `first` on begin.
bool rows_are_aligned(const ColorSubsampleArgs& a, int first) {
  std::uintptr_t all = 0;
  for (int c = first; c < a.components; ++c)
    all |= reinterpret_cast<std::uintptr_t>(a.plane[c].data) |
           static_cast<std::uintptr_t>(a.plane[c].stride_bytes);
  return all % 8 == 0;
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
Status launch(const Source& source, ColorSubsampleArgs a, cudaStream_t stream) {
  if (a.components == 1) {
    a.h_max = a.v_max = 1;
    a.plane[1] = {nullptr, 0, a.plane[0].width, 0};
  }
  const auto color_subsample = kernel_for<Source>(a.h_max, a.v_max);
  if (color_subsample == nullptr)
    return Status(Errc::invalid_argument, "no down-sampling by such factors");
  const ChromaRows rows = rows_of(a);
  ZR_LAUNCH(color_subsample, grid_for(a.plane[1].width, rows.count()), dim3(kThreadsX, kThreadsY),
            stream, source, a, rows);
  return Status::ok();
}

using WideKernel = void (*)(FramesOfLaunch, RgbOrder, YccFactors, ColorSubsampleArgs, ChromaRows);
template <int kBytes, bool kShaped>
WideKernel wide_kernel_of(int h, int v) {
  if (h == 1 && v == 1) return wide_subsample_kernel<1, 1, kBytes, kShaped>;
  if (h == 2 && v == 1) return wide_subsample_kernel<2, 1, kBytes, kShaped>;
  if (h == 2 && v == 2) return wide_subsample_kernel<2, 2, kBytes, kShaped>;
  return nullptr;
}

/// The kernel for these arguments, or none.
WideKernel choose_wide(const ColorSubsampleArgs& a) {
  if (!is_rgb(a.frame.format) || a.components != 3 || a.plane[0].data == nullptr ||
      !rows_are_aligned(a, 0))
    return nullptr;
  const bool is_short = rgb_order(a.frame.format).pixel_bytes == 3;
  const auto plain = is_short ? wide_kernel_of<3, false> : wide_kernel_of<4, false>;
  const auto shaped = is_short ? wide_kernel_of<3, true> : wide_kernel_of<4, true>;
  return (a.shapes_noise ? shaped : plain)(a.h_max, a.v_max);
}

Status launch_wide(WideKernel wide, const ColorSubsampleArgs& a,
                   std::span<const ConstFrameView> frames, const PlaneOffsets& step,
                   cudaStream_t stream) {
  const ChromaRows rows = rows_of(a);
  const RgbOrder order = rgb_order(a.frame.format);
  FramesOfLaunch sources{{}, {}, step};
  for (std::size_t f = 0; f < frames.size(); ++f) {
    sources.data[f] = frames[f].data[0];
    sources.stride[f] = frames[f].stride_bytes[0];
  }
  dim3 grid = grid_for(ceil_div(a.plane[1].width * a.h_max, kWidePixels), rows.count());
  grid.z = static_cast<unsigned>(frames.size());
  ZR_LAUNCH(wide, grid, dim3(kThreadsX, kThreadsY), stream, sources, order, factors_of(order), a,
            rows);
  return Status::ok();
}

/// Without chroma if the stream has none.
YccSource ycc_source(const ConstFrameView& frame, bool with_chroma) {
  YccSource source{};
  const bool is_grey = frame.format == PixelFormat::gray8 || !with_chroma;
  for (int c = 0; c < (is_grey ? 1 : 3); ++c) {
    const ComponentLayout at = component_layout(frame.format, c, frame.width, frame.height);
    const auto p = static_cast<std::size_t>(at.plane);
    source.data[c] = frame.data[p] + at.offset;
    source.stride[c] = frame.stride_bytes[p];
    source.step[c] = at.step;
  }
  if (is_grey) return source;
  source.shift_x = chroma_access(frame.format).shift_x;
  source.shift_y = chroma_access(frame.format).shift_y;
  return source;
}

/// Whether the frame's pairs of chroma samples only have to be split, and luma is not wanted.
bool is_split_alone(const ColorSubsampleArgs& a) {
  const bool has_pairs = a.frame.format == PixelFormat::nv12 || a.frame.format == PixelFormat::nv21;
  return has_pairs && a.components == 3 && a.h_max == 2 && a.v_max == 2 &&
         a.plane[0].data == nullptr && rows_are_aligned(a, 1);
}

Status split_chroma(const ColorSubsampleArgs& a, cudaStream_t stream) {
  const ChromaRows rows = rows_of(a);
  const ChromaPairs pairs{a.frame.data[1], a.frame.stride_bytes[1], (a.frame.width + 1) / 2,
                          a.frame.format == PixelFormat::nv21};
  ZR_LAUNCH(split_chroma_kernel, grid_for(ceil_div(a.plane[1].width, 8), rows.count()),
            dim3(kThreadsX, kThreadsY), stream, pairs, a.plane[1], a.plane[2], rows.first,
            rows.last);
  return Status::ok();
}

/// A frame for which there is no wide kernel.
Status run(const ColorSubsampleArgs& a, cudaStream_t stream) {
  if (is_split_alone(a)) return split_chroma(a, stream);
  if (!is_rgb(a.frame.format)) return launch(ycc_source(a.frame, a.components > 1), a, stream);
  const RgbOrder order = rgb_order(a.frame.format);
  return launch(RgbSource{a.frame.data[0], a.frame.stride_bytes[0], order, a.shapes_noise}, a,
                stream);
}

constexpr unsigned kFitThreads = 256;

/// The sums of three samples of a column with the weights 1, 6, 1, of four columns: two in the
/// halves of a word each.
struct ColumnSums {
  std::uint32_t even, odd;  // columns 0 and 2, 1 and 3

  __device__ static ColumnSums of(std::uint32_t above, std::uint32_t own, std::uint32_t below) {
    constexpr std::uint32_t kEven = 0x00FF00FF;
    return {(above & kEven) + 6 * (own & kEven) + (below & kEven),
            (above >> 8 & kEven) + 6 * (own >> 8 & kEven) + (below >> 8 & kEven)};
  }
};

/// fitted_chroma() of two samples in the halves of a word. What is limited has 2^14 more, so that
/// no half borrows from the other one.
__device__ std::uint32_t fit_two(std::uint32_t samples, std::uint32_t sums) {
  const std::uint32_t fitted = (samples << 7) + 0x40204020 - sums;
  return __vminu2(__vmaxu2(fitted, 0x40004000), 0x7FFF7FFF) >> 6 & 0x00FF00FF;
}
__device__ std::uint32_t fit_four(std::uint32_t own, std::uint32_t before, const ColumnSums& s,
                                  std::uint32_t behind) {
  const std::uint32_t even = 6 * s.even + s.odd + (s.odd << 16 | before);
  const std::uint32_t odd = 6 * s.odd + s.even + (s.even >> 16 | behind << 16);
  return fit_two(own & 0x00FF00FF, even) | fit_two(own >> 8 & 0x00FF00FF, odd) << 8;
}

/// Eight samples of a row by each thread. blockIdx.y: frame and component.
__global__ void __launch_bounds__(kFitThreads)
    fit_chroma_kernel(const __grid_constant__ FitChromaArgs a) {
  const std::int64_t frame = std::int64_t{blockIdx.y / 2} * a.step;
  const std::uint8_t* const from = a.from[blockIdx.y % 2] + frame;
  auto* const to = reinterpret_cast<uint2*>(a.to[blockIdx.y % 2] + frame);
  const std::int32_t parts = a.width / 8;
  wait_for_previous_kernel();
  for (std::int64_t i = grid_thread(); i < std::int64_t{parts} * a.height; i += grid_threads()) {
    const auto y = static_cast<std::int32_t>(i / parts);
    const std::int32_t x = static_cast<std::int32_t>(i % parts) * 8;
    const auto row = [&](int at) {
      return from + std::int64_t{min(max(at, 0), a.height - 1)} * a.width;
    };
    const std::uint8_t *const above = row(y - 1), *const own = row(y), *const below = row(y + 1);
    const auto sum_at = [&](int at) { return above[at] + 6u * own[at] + below[at]; };
    const auto eight_of = [&](const std::uint8_t* in) {
      return *reinterpret_cast<const uint2*>(in + x);
    };
    const uint2 upper = eight_of(above), middle = eight_of(own), lower = eight_of(below);
    const ColumnSums left = ColumnSums::of(upper.x, middle.x, lower.x);
    const ColumnSums right = ColumnSums::of(upper.y, middle.y, lower.y);
    to[i] = {fit_four(middle.x, sum_at(max(x - 1, 0)), left, right.even & 0xFFFF),
             fit_four(middle.y, left.odd >> 16, right, sum_at(min(x + 8, a.width - 1)))};
  }
}

}  // namespace

Status fit_chroma(const FitChromaArgs& args, cudaStream_t stream) {
  const std::int64_t parts = std::int64_t{args.width} / 8 * args.height;
  const LaunchShape shape{grid_size(parts, kFitThreads), kFitThreads, 0, 2 * args.frames};
  return ZR_CUDA_STATUS(launch_behind(fit_chroma_kernel, shape, stream, args));
}

Status color_subsample_cuda(const ColorSubsampleArgs& a, Exec& exec) {
  return color_subsample_frames(a, {&a.frame, 1}, {}, stream_of(exec));
}

Status color_subsample_frames(const ColorSubsampleArgs& args,
                              std::span<const ConstFrameView> frames, const PlaneOffsets& step,
                              cudaStream_t stream) {
  const int last_row = std::min(args.first_row + args.row_count, args.frame.height);
  if (last_row <= args.first_row) return Status::ok();
  const WideKernel wide = choose_wide(args);
  const std::size_t at_once = wide != nullptr ? FramesOfLaunch::kMost : 1;
  ColorSubsampleArgs a = args;
  for (std::size_t f = 0; f < frames.size(); f += at_once) {
    const auto some = frames.subspan(f, std::min(at_once, frames.size() - f));
    a.frame = some[0];
    if (wide != nullptr)
      ZR_TRY(launch_wide(wide, a, some, step, stream));
    else
      ZR_TRY(run(a, stream));
    for (int c = 0; c < a.components; ++c)
      if (a.plane[c].data != nullptr)
        a.plane[c].data += static_cast<std::int64_t>(at_once) * step.of[c];
  }
  return Status::ok();
}

}  // namespace zerorun
