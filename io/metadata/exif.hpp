// The orientation in EXIF data.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>

namespace zerorun::io {

/// The orientation tag of EXIF data, 1 if there is none or it is damaged.
int exif_orientation(std::span<const std::uint8_t> exif) noexcept;
/// Sets the orientation tag where there is one.
void set_exif_orientation(std::span<std::uint8_t> exif, int orientation) noexcept;

}  // namespace zerorun::io
