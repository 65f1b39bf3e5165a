// Decode stage 7: component planes -> frame. Inverse: color_subsample.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstring>

#include "codec/arith/color.hpp"
#include "codec/base/exec.hpp"
#include "codec/syntax/scan_layout.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/frame.hpp"

namespace zerorun {

struct FrameHeader;

/// Components are enlarged by the filters of arith/color.hpp. A YCbCr frame of another sampling
/// is made from the enlarged picture by the encoder's box filters.
struct ColorUpsampleArgs {
  ConstPlaneView plane[kMaxDecodedComponents];
  std::int32_t components;                                          ///< 1, 3, or on the CPU 4
  std::int32_t h[kMaxDecodedComponents], v[kMaxDecodedComponents];  ///< sampling factors
  std::int32_t h_max, v_max;
  ColorModel model;
  ChromaUpsampling upsampling;
  FrameView frame;                    ///< out
  std::int32_t first_row, row_count;  ///< pixel rows to do; both even, or up to the end
  /// CUDA, device memory: if not null and not 0 when all work on the stream before has ended,
  /// nothing is done.
  const std::uint32_t* skip = nullptr;
};

/// The arguments for an image whose component planes are `planes`, with first_row 0.
ColorUpsampleArgs make_upsample_args(const FrameHeader& image, const PlaneView* planes,
                                     ColorModel model, ChromaUpsampling upsampling,
                                     const FrameView& out, std::int32_t row_count);

/// The filter of component c.
UpsampleFilter filter_of(const ColorUpsampleArgs& args, int c);

/// A YCbCr frame whose samples are those of the stream: no filter is needed.
bool stored_as_wanted(const ColorUpsampleArgs& args);

/// YCbCr of another sampling than the stream's: rows of chroma at the size of the picture, then the
/// encoder's box filter. `lines` holds six rows of `stride` bytes, of which the filter may read
/// all. row(y) writes luma row y, where the picture has it, and returns Cb and Cr of that row or of
/// the last one; box(row0, row1, factors, out, out_width); put(cy, cb, cr, width) writes a row.
template <typename Row, typename Box, typename Put>
void resample_chroma(const ColorUpsampleArgs& a, int last_row, std::uint8_t* lines,
                     std::size_t stride, const Row& row, const Box& box, const Put& put) {
  const LumaFactors want = luma_factors(native_subsampling(a.frame.format));
  const int out_width = component_extent(a.frame.width, 1, want.h);
  const auto width = static_cast<std::size_t>(a.frame.width);
  const std::size_t more = static_cast<std::size_t>(out_width * want.h) - width;
  for (int y = a.first_row; y < last_row; y += want.v) {
    std::uint8_t* line = lines;
    for (int i = 0; i < want.v; ++i)
      for (const std::uint8_t* const chroma : row(y + i)) {
        std::memcpy(line, chroma, width);
        std::memset(line + width, line[width - 1], more);
        line += stride;
      }
    std::uint8_t* const out = lines + 4 * stride;
    for (std::size_t c = 0; c < 2; ++c)
      box(lines + c * stride, lines + (2 + c) * stride, want, out + c * stride, out_width);
    put(y / want.v, out, out + stride, out_width);
  }
}

Status color_upsample_cpu(const ColorUpsampleArgs& args, Exec& exec);
Status color_upsample_cuda(const ColorUpsampleArgs& args, Exec& exec);

}  // namespace zerorun
