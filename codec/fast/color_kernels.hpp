// The fast CPU backend's kernels for rows of pixels: colour, re-sampling, interleaving.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/base/pixel_rows.hpp"
#include "codec/fast/cpu_target.hpp"

namespace zerorun::fast {

/// A "padded" row may be read and written up to this many bytes after its last sample.
inline constexpr int kRowPadding = 64;

struct ColorKernels {
  /// rgb_to_ycc() of arith/color.hpp for a row of packed pixels.
  void (*rgb_to_ycc)(const std::uint8_t* in, RgbOrder order, int width, std::uint8_t* y,
                     std::uint8_t* cb, std::uint8_t* cr);
  /// box_mean() of arith/resample.hpp over 2 x v samples, v being 1 or 2. Input rows are padded.
  void (*box_2)(const std::uint8_t* row0, const std::uint8_t* row1, int v, std::uint8_t* out,
                int out_width);
  /// ycc_to_rgb() for a row; the fourth byte of a pixel is 255. Input rows are padded.
  void (*ycc_to_rgb)(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr,
                     int width, RgbOrder order, std::uint8_t* out);
  /// Rows of UpsampleFilter; `in` and `out` are padded. `sums` is scratch memory for
  /// in_width + 2 * kRowPadding numbers. fancy_2x1 where `far` is null.
  void (*fancy_2)(const std::uint8_t* near, const std::uint8_t* far, int in_width,
                  std::uint16_t* sums, std::uint8_t* out);
  void (*fancy_1x2)(const std::uint8_t* near, const std::uint8_t* far, int width, int bias,
                    std::uint8_t* out);
  /// Each sample twice.
  void (*repeat_2)(const std::uint8_t* in, int in_width, std::uint8_t* out);
  /// Pairs (a, b) from two rows, which are padded, and back; for NV12 and NV21.
  void (*interleave)(const std::uint8_t* a, const std::uint8_t* b, int pairs, std::uint8_t* out);
  void (*split)(const std::uint8_t* in, int pairs, std::uint8_t* a, std::uint8_t* b);
};

/// `target` is in cpu_targets() and not scalar.
const ColorKernels& color_kernels(CpuTarget target);

}  // namespace zerorun::fast
