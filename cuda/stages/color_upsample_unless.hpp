// color_upsample behind kernels that may find that there is nothing to convert.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/decode/color_upsample.hpp"

namespace zerorun {

/// Does what color_upsample_cuda() does if `*skip` is 0 when all work on the stream before has
/// ended, and otherwise nothing. `skip`: device memory; null stands for 0.
Status color_upsample_unless(const std::uint32_t* skip, const ColorUpsampleArgs& args, Exec& exec);

}  // namespace zerorun
