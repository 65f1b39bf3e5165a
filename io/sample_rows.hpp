// Converts the samples of a picture by the terms of a SampleConversion, row by row.
// SPDX-License-Identifier: MIT
#pragma once

#include "io/ycc_to_jfif.hpp"

namespace zerorun::io {

/// As YccToJfif::convert().
void convert_by_terms(const SampleConversion& conversion, const YccPlanes& in, const FrameView& out,
                      bool dither);

}  // namespace zerorun::io
