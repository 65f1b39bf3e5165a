// The frames that encoders take, made from RGB pictures, so that all of them code the same one.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "apps/bench/frames/frame_set.hpp"
#include "apps/bench/options.hpp"

namespace zerorun::app::bench {

/// Pictures of an input, rgb24, each a set of its own. Ends the command when it cannot be read.
std::vector<FrameSet> load_pictures(const Options& options, const std::string& input);

/// A set of one frame, rgb24, in another layout: bgr24, or planes of a sampling by libjpeg's
/// conversion and box filter. Ends the command when there is no memory.
FrameSet converted(const FrameSet& rgb, PixelFormat format);

}  // namespace zerorun::app::bench
