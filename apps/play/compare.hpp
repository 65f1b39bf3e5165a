// Two pictures as one: their difference, and how large it is.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "apps/common/psnr.hpp"
#include "zerorun/frame.hpp"

namespace zerorun::app {

/// Nothing where the two differ in size or format and cannot be compared.
std::optional<SquaredError> compare_error(const ConstFrameView& a, const ConstFrameView& b);

/// |a - b| times `gain`, clipped: black where they agree. Chroma keeps the sign of the difference,
/// around its middle. Both have one size and format, one of those that are shown.
Status make_difference(const ConstFrameView& a, const ConstFrameView& b, int gain, Frame& out);

}  // namespace zerorun::app
