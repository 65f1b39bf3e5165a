// The words that a user looks for in EXIF data and ICC profiles. What is damaged counts as not
// there. Thread-safe; std::bad_alloc is thrown where memory runs out.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "zerorun/status.hpp"

namespace zerorun::io {

/// Label and text of what is there: make, model, date, exposure, aperture, iso, focal_length,
/// orientation, artist, copyright, gps ("yes").
ZERORUN_API std::vector<std::pair<std::string, std::string>> exif_summary(
    std::span<const std::uint8_t> exif);

/// The description in an ICC profile; its colour space if it has none that can be read.
ZERORUN_API std::string profile_name(std::span<const std::uint8_t> icc);

}  // namespace zerorun::io
