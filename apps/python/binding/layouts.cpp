// How the planes of a pixel format look as arrays.
// SPDX-License-Identifier: MIT
#include "apps/python/binding/layouts.hpp"

#include <cstring>

#include "apps/python/binding/failure.hpp"

namespace zerorun::python {
namespace {

std::int64_t channels_of(PixelFormat format, int plane) {
  switch (format) {
    case PixelFormat::nv12:
    case PixelFormat::nv21:
      return plane == 0 ? 1 : 2;
    case PixelFormat::yuyv:
    case PixelFormat::uyvy:
      return 2;
    case PixelFormat::rgb24:
    case PixelFormat::bgr24:
      return 3;
    default:
      return is_rgb(format) ? 4 : 1;
  }
}

}  // namespace

PlaneShape plane_shape(PixelFormat format, int plane, int width, int height) {
  const std::int64_t channels = channels_of(format, plane);
  const auto row_bytes = static_cast<std::int64_t>(plane_row_bytes(format, plane, width));
  return {plane_rows(format, plane, height), row_bytes / channels, channels};
}

std::string shape_text(const PlaneShape& shape) {
  std::string text = "(" + std::to_string(shape.rows) + ", " + std::to_string(shape.columns);
  if (shape.channels > 1) text += ", " + std::to_string(shape.channels);
  return text + ")";
}

bool PlaneView::is_direct() const {
  const bool one_channel = shape.channels == 1;
  const bool one_column = shape.columns == 1;
  const bool one_row = shape.rows == 1;
  return (one_channel || channel_stride == 1) && (one_column || column_stride == shape.channels) &&
         (one_row || row_stride >= shape.row_bytes() || row_stride <= -shape.row_bytes());
}

PlaneView plane_view(const Array& array) {
  PlaneView view;
  view.data = array.data;
  view.shape = {array.shape[0], array.shape[1], array.dimensions == 3 ? array.shape[2] : 1};
  view.row_stride = array.stride[0];
  view.column_stride = array.stride[1];
  view.channel_stride = array.dimensions == 3 ? array.stride[2] : 1;
  return view;
}

void copy_tight(const PlaneView& from, std::uint8_t* to) {
  const PlaneShape& shape = from.shape;
  const bool is_row_tight = (shape.channels == 1 || from.channel_stride == 1) &&
                            (shape.columns == 1 || from.column_stride == shape.channels);
  for (std::int64_t y = 0; y < shape.rows; ++y, to += shape.row_bytes()) {
    const std::uint8_t* row = from.data + y * from.row_stride;
    if (is_row_tight) {
      std::memcpy(to, row, static_cast<std::size_t>(shape.row_bytes()));
      continue;
    }
    // Channel by channel: planar RGB is then read row by row.
    for (std::int64_t c = 0; c < shape.channels; ++c)
      for (std::int64_t x = 0; x < shape.columns; ++x)
        to[x * shape.channels + c] = row[x * from.column_stride + c * from.channel_stride];
  }
}

void check_picture_size(std::int64_t width, std::int64_t height) {
  if (width < 1 || height < 1 || width > kMaxDimension || height > kMaxDimension)
    fail(Errc::invalid_frame, "the picture has " + std::to_string(width) + "x" +
                                  std::to_string(height) +
                                  " pixels, but JPEG holds 1x1 to 65535x65535");
}

}  // namespace zerorun::python
