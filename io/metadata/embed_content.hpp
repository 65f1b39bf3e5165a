// Puts ICC, EXIF and XMP into picture files that were just made.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "zerorun/content.hpp"

namespace zerorun::io {

/// True if files with this extension can hold some of it: png, webp, tif, tiff.
bool can_embed(const std::string& extension);

/// `file` is a whole PNG, WebP or TIFF file without such content. Returns what it cannot hold, for
/// a message; empty if it holds all.
std::string embed_content(const PictureContent& content, const std::string& extension,
                          std::vector<std::byte>& file);

}  // namespace zerorun::io
