// PNG, TIFF, BMP and WebP (and the JPEG kinds that zerorun refuses) by OpenCV's imgcodecs.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "io/image_file.hpp"
#include "zerorun/frame.hpp"

namespace zerorun::io {

/// gray8 or rgb24. `name` is for messages. Errors: bad_input, too_many_pixels, out_of_memory.
Status decode_by_opencv(const std::string& name, ContentKind kind, std::vector<std::byte> data,
                        Frame& out);

/// `frame` is gray8 or rgb24. Errors: unsupported_output, out_of_memory.
Status encode_by_opencv(const ConstFrameView& frame, const std::string& extension,
                        std::vector<std::byte>& out);

}  // namespace zerorun::io
