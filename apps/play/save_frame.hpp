// Saving the frame that is shown.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "apps/play/play_frame.hpp"
#include "apps/play/play_input.hpp"

namespace zerorun::app {

/// Both write NAME-INDEX.ext into `directory`, or NAME-INDEX-2.ext and so on if that exists, and
/// return the path. save_jpeg() writes the bytes of the input unchanged.
Result<std::string> save_jpeg(const PlayInput& input, const PlayFrame& frame,
                              const std::string& directory);
/// PNG, or PPM in a build without OpenCV.
Result<std::string> save_picture(const PlayInput& input, const PlayFrame& frame,
                                 const std::string& directory);

}  // namespace zerorun::app
