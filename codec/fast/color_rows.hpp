// Rows of pixels: the kernels for them, and the first stage of the encoder and the last of the
// decoder by these kernels.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "codec/base/pixel_rows.hpp"
#include "codec/decode/color_upsample.hpp"
#include "codec/encode/color_subsample.hpp"
#include "codec/syntax/scan_layout.hpp"
#include "zerorun/backend.hpp"
#include "zerorun/frame.hpp"

namespace zerorun::fast {

/// A "padded" row may be read and written up to this many bytes after its last sample.
inline constexpr int kRowPadding = 64;

struct ColorKernels {
  /// rgb_to_ycc() of arith/color.hpp for row `row` of packed pixels.
  void (*rgb_to_ycc)(const std::uint8_t* in, RgbOrder order, int width, int row, bool shapes_noise,
                     std::uint8_t* y, std::uint8_t* cb, std::uint8_t* cr);
  /// box_mean() of arith/color.hpp over 2 x v samples, v being 1 or 2. Input rows are padded.
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

/// `target` is in instruction_sets() and not scalar.
const ColorKernels& color_kernels(InstructionSet target);

inline bool is_semi_planar(PixelFormat format) {
  return format == PixelFormat::nv12 || format == PixelFormat::nv21;
}
inline bool is_packed_422(PixelFormat format) {
  return format == PixelFormat::yuyv || format == PixelFormat::uyvy;
}

/// Does what color_subsample_cpu() does. The fast kernels take packed RGB into three components,
/// and NV12, NV21, YUYV and UYVY in their own sampling; color_subsample_cpu() takes everything
/// else. `rows` is scratch memory that the caller keeps.
void color_subsample(const ColorKernels& kernels, const ColorSubsampleArgs& args,
                     std::vector<std::uint8_t>& rows);

/// Does what color_upsample_cpu() does, which takes over streams of RGB, inks for YCbCr
/// frames, and odd sampling factors.
/// The planes' rows are padded (kRowPadding).
void color_upsample(const ColorKernels& kernels, const ColorUpsampleArgs& args,
                    std::vector<std::uint8_t>& rows);

}  // namespace zerorun::fast
