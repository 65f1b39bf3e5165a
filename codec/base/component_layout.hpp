// Where the samples of a component lie in a frame of any pixel format.
// SPDX-License-Identifier: MIT
#pragma once

#include "zerorun/frame.hpp"

namespace zerorun {

/// Sample x of row y of a component is data[plane][y * stride + offset + x * step].
struct ComponentLayout {
  int plane, offset, step;
  int width, height;
};

/// Components are in the order Y Cb Cr or R G B; grey has the first alone.
ComponentLayout component_layout(PixelFormat format, int component, int width, int height) noexcept;

}  // namespace zerorun
