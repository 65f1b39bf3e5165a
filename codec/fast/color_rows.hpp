// The first stage of the encoder and the last of the decoder by the fast kernels.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "codec/decode/color_upsample.hpp"
#include "codec/encode/color_subsample.hpp"
#include "codec/fast/color_kernels.hpp"

namespace zerorun::fast {

/// Does what color_subsample_cpu() does. The fast kernels take packed RGB into three components,
/// and NV12, NV21, YUYV and UYVY in their own sampling; color_subsample_cpu() takes everything
/// else. `rows` is scratch memory that the caller keeps.
void color_subsample(const ColorKernels& kernels, const ColorSubsampleArgs& args,
                     std::vector<std::uint8_t>& rows);

/// Does what color_upsample_cpu() does, which takes over streams of RGB and odd sampling factors.
/// The planes' rows are padded (kRowPadding).
void color_upsample(const ColorKernels& kernels, const ColorUpsampleArgs& args,
                    std::vector<std::uint8_t>& rows);

}  // namespace zerorun::fast
