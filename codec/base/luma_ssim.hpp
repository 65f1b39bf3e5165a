// Structural similarity of the luma of two frames, as FFmpeg's ssim filter computes it.
// SPDX-License-Identifier: MIT
#pragma once

#include "zerorun/frame.hpp"

namespace zerorun {

/// The mean over windows of 8x8 samples, four samples apart: 1 where nothing differs. Luma of RGB
/// is JFIF's. Frames of less than 8x8 samples have no window and give 1 if they are equal, else 0.
/// Both frames must have the same size and format. The result is the same on every machine.
double luma_ssim(const ConstFrameView& a, const ConstFrameView& b);

}  // namespace zerorun
