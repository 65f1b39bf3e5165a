// color_upsample behind kernels that may find that there are no samples.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/decode/color_upsample.hpp"

namespace zerorun {

/// Does what color_upsample_cuda() does if `*faults` is 0 when all work on the stream before has
/// ended, and otherwise nothing. `faults`: device memory; null stands for 0.
Status color_upsample_unless(const std::uint32_t* faults, const ColorUpsampleArgs& args,
                             Exec& exec);

}  // namespace zerorun
