// Decode stage 7: component planes -> frame. Inverse: color_subsample.
// SPDX-License-Identifier: MIT
#pragma once

#include "codec/arith/resample.hpp"
#include "codec/base/exec.hpp"
#include "codec/syntax/scan_layout.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/frame.hpp"

namespace zerorun {

struct FrameHeader;

/// Components are enlarged by the filters of arith/resample.hpp. A YCbCr frame of another sampling
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

Status color_upsample_cpu(const ColorUpsampleArgs& args, Exec& exec);
Status color_upsample_cuda(const ColorUpsampleArgs& args, Exec& exec);

}  // namespace zerorun
