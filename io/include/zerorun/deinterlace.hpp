// Makes whole pictures of interlaced ones.
// SPDX-License-Identifier: MIT
#pragma once

#include "zerorun/frame.hpp"

namespace zerorun::io {

/// Keeps the lines of the first field and interpolates the others between them, by the filter (-1,
/// 9, 9, -1) / 16. The picture has no combs, and half the detail of fast edges. Works in place, on
/// all formats whose planes have a row of bytes for each line.
ZERORUN_API void deinterlace(const FrameView& frame, bool top_first) noexcept;

}  // namespace zerorun::io
