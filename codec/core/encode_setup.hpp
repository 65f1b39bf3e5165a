// Parameters and frame shape -> everything that is fixed before coding.
// SPDX-License-Identifier: MIT
#pragma once

#include "codec/core/encode_pipeline.hpp"

namespace zerorun {

/// Range checks of everything that does not depend on a frame.
Status validate_params(const EncodeParams& params);

/// Errors: invalid_argument (restart rows that make more than 65535 MCUs), invalid_frame.
Result<EncodeSetup> make_encode_setup(const EncodeParams& params, PixelFormat format, int width,
                                      int height);

/// MCUs of RestartPolicy::automatic; 0 where an image has no two intervals.
int automatic_restart_interval(const ScanLayout& layout, HuffmanTables huffman);

}  // namespace zerorun
