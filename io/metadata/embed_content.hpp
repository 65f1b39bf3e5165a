// Puts ICC, EXIF and XMP into picture files that were just made.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "zerorun/content.hpp"

namespace zerorun::io {

/// `file` is a whole PNG, WebP or TIFF file without such content; others stay as they are.
void embed_content(const PictureContent& content, const std::string& extension,
                   std::vector<std::byte>& file);

}  // namespace zerorun::io
