// Sixteen pixels of a row at once: YCbCr planes -> RGB in registers, for the samplings of nearly
// all streams. A word holds Cb in its lower and Cr in its upper half: the sums of the filters have
// 12 bits at most, so that the functions of arith/resample.hpp work on both halves at once.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/arith/color.hpp"
#include "codec/arith/resample.hpp"
#include "codec/syntax/scan_layout.hpp"
#include "cuda/stages/run_of_words.cuh"

namespace zerorun {

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

/// Chroma above and below the pixels of a thread, filtered from row to row.
template <UpsampleFilter kFilter>
struct ChromaRows {
  static constexpr int kRows = kRowsOfChroma<kFilter>;
  static constexpr int kAcross = pixels_per_sample(kFilter), kCount = kWidePixels / kAcross;
  static constexpr std::uint32_t kScale = sum_scale(kFilter), kTwice = 0x00010001;

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
  /// Of four bytes: for each `first` 0, G 1, `last` 4, or 5 for 255, as __byte_perm() has it.
  std::uint32_t selection;
};

/// `swapped`: B comes first. `filter` made the sums.
inline PackedPixels pack_pixels(bool swapped, std::uint32_t selection, UpsampleFilter filter) {
  const unsigned byte = sum_scale(filter) == 1 ? 0 : 1;
  const OuterChannel b{0x4440 + byte, kCbB, kColorHalf - 128 * kCbB, -kCbG};
  const OuterChannel r{0x4442 + byte, kCrR, kColorHalf - 128 * kCrR, -kCrG};
  return {swapped ? b : r, swapped ? r : b, selection};
}

/// A number that the compiler does not know, so that it keeps it in a register: it adds constants
/// with an instruction of their own, and three of a pixel's 26 were those.
__device__ inline std::int32_t in_register(std::int32_t x) {
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
__device__ inline std::uint32_t add_and_clamp(std::int32_t a, std::int32_t b, std::uint32_t y) {
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

}  // namespace zerorun
