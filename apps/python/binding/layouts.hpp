// How the planes of a pixel format look as arrays.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "apps/python/binding/arrays.hpp"
#include "zerorun/frame.hpp"

namespace zerorun::python {

/// [rows][columns][channels]; arrays have two dimensions where `channels` is 1.
struct PlaneShape {
  std::int64_t rows = 0, columns = 0, channels = 1;
  std::int64_t row_bytes() const { return columns * channels; }
  friend bool operator==(const PlaneShape&, const PlaneShape&) = default;
};

PlaneShape plane_shape(PixelFormat format, int plane, int width, int height);
std::string shape_text(const PlaneShape& shape);

/// A plane of an array: where its samples are.
struct PlaneView {
  std::uint8_t* data = nullptr;
  PlaneShape shape;
  std::int64_t row_stride = 0, column_stride = 0, channel_stride = 1;

  /// True if the library can use the memory as it is: samples of a row side by side, and rows that
  /// do not overlap.
  bool is_direct() const;
};

/// An array with 2 dimensions, or 3 with the channels last.
PlaneView plane_view(const Array& array);

/// Copies the samples row by row, without gaps. Needs no GIL.
void copy_tight(const PlaneView& from, std::uint8_t* to);

/// Errors: invalid_frame for sizes that JPEG does not hold.
void check_picture_size(std::int64_t width, std::int64_t height);

}  // namespace zerorun::python
