// The sizes and samplings of R17, for the CPU's part and the GPU's.
// SPDX-License-Identifier: MIT
#pragma once

#include "zerorun/frame.hpp"

namespace zerorun::test {

/// Every size from 1x1 to kEdge x kEdge.
inline constexpr int kEdge = 64;
inline constexpr PixelFormat kSizeFormats[] = {PixelFormat::yuv444p, PixelFormat::yuv422p,
                                               PixelFormat::yuv420p, PixelFormat::yuv440p,
                                               PixelFormat::yuv411p};

}  // namespace zerorun::test
