// The difference of two pictures, as a picture and as PSNR.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "apps/common/psnr.hpp"
#include "zerorun/frame.hpp"

namespace zerorun::app {

/// Empty if the two differ in size or format.
std::optional<SquaredError> compare_error(const ConstFrameView& a, const ConstFrameView& b);

/// |a - b| times `gain`, clipped: black where they agree. Chroma keeps the sign of the difference,
/// around 128. Both must have the same size and format, one that the player can show.
Status make_difference(const ConstFrameView& a, const ConstFrameView& b, int gain, Frame& out);

}  // namespace zerorun::app
