// Grid sizes from 64-bit amounts of work.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>

namespace zerorun {

/// CTAs that fill any GPU of today several times over, for kernels whose amount of work only the
/// device knows: with more of them most would find nothing to do.
inline constexpr std::int64_t kManyCtas = 4096;

/// CTAs of a kernel that loops over its work with a grid stride: enough for all of it at once, but
/// never more than `limit` (the default is gridDim.x's own bound).
inline unsigned grid_size(std::int64_t items, std::int64_t per_cta,
                          std::int64_t limit = 0x7FFFFFFF) {
  return static_cast<unsigned>(std::clamp<std::int64_t>((items + per_cta - 1) / per_cta, 1, limit));
}

}  // namespace zerorun
