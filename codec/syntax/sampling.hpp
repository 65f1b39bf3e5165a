// Compares sampling factors with a chroma layout.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "zerorun/frame.hpp"

namespace zerorun {

/// True if both chroma components of three are stored as `luma` says. Ratios decide, not factors:
/// T.81 A.1.1 defines sizes by Hi/Hmax and Vi/Vmax, and FFmpeg writes 4:2:2 as 2x2, 1x2, 1x2.
template <typename Components>
constexpr bool has_sampling(const Components& components, LumaFactors luma) {
  for (std::size_t c = 1; c < 3; ++c)
    if (components[c].h * luma.h != components[0].h || components[c].v * luma.v != components[0].v)
      return false;
  return true;
}

}  // namespace zerorun
