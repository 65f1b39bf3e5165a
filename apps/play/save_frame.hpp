// The frame that is shown, as a file.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "apps/play/play_frame.hpp"
#include "apps/play/play_input.hpp"

namespace zerorun::app {

/// Both write NAME-INDEX.ext into `directory`, with a number behind it where that exists, and
/// return its path. The JPEG bytes are those of the input, untouched.
Result<std::string> save_jpeg(const PlayInput& input, const PlayFrame& frame,
                              const std::string& directory);
/// PNG, or PPM in a build without OpenCV.
Result<std::string> save_picture(const PlayInput& input, const PlayFrame& frame,
                                 const std::string& directory);

}  // namespace zerorun::app
