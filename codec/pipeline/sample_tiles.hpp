// A small picture made of tiles of a large one, which stands for it where sizes are estimated.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "zerorun/frame.hpp"

namespace zerorun {

/// Copies tiles that are spread evenly over the frame to `sample`, which has its format and less
/// than a third of its pixels; tiles begin where MCUs do. False, and nothing is copied, if the
/// frame is so small or narrow that it is its own best sample. Errors: those of Frame::reshape().
Result<bool> sample_tiles(const ConstFrameView& frame, Frame& sample);

}  // namespace zerorun
