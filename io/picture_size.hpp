// What TIFF and WebP files say of their size, checked before a library allocates for it.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "io/image_file.hpp"

namespace zerorun::io {

/// Errors: too_many_pixels, for a picture, or a tile of a TIFF file, that has more than
/// StreamLimits allows. ok for other kinds, and for a file that does not tell: its decoder refuses
/// it.
Status check_stored_size(const std::string& name, ContentKind kind,
                         std::span<const std::byte> data);

}  // namespace zerorun::io
