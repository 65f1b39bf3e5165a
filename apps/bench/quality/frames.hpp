// The frames that encoders take, made from one RGB picture, so that all of them code the same one.
// SPDX-License-Identifier: MIT
#pragma once

#include "apps/bench/frames/frame_set.hpp"

namespace zerorun::app::bench {

/// A set of one frame, rgb24, in another layout: bgr24, or planes of a sampling by libjpeg's
/// conversion and box filter. Ends the command when there is no memory.
FrameSet converted(const FrameSet& rgb, PixelFormat format);

}  // namespace zerorun::app::bench
