// How many frames an input has, where its headers do not say.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "zerorun/io.hpp"

namespace zerorun::io {

/// For Motion JPEG in containers without a list of their frames (Matroska): walks from the header
/// of one frame to the next and reads little else. Of the range in `options`. -1 if SourceInfo has
/// the number, or if the frames have to be read to count them. Errors: those of open_packets(). Any
/// thread.
ZERORUN_API Result<std::int64_t> count_listed_frames(const Location& input,
                                                     const SourceOptions& options);

}  // namespace zerorun::io
