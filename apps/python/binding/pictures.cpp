// Arrays of Python to decode into, and streams of Python to decode.
// SPDX-License-Identifier: MIT
#include "apps/python/binding/pictures.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "apps/python/binding/failure.hpp"
#include "apps/python/binding/layouts.hpp"

namespace zerorun::python {
namespace {

nb::object new_array(const PlaneShape& shape) {
  const nb::object empty = nb::module_::import_("numpy").attr("empty");
  if (shape.channels == 1) return empty(nb::make_tuple(shape.rows, shape.columns), "u1");
  return empty(nb::make_tuple(shape.rows, shape.columns, shape.channels), "u1");
}

void set_plane(Picture& picture, int plane, const PlaneView& view) {
  const auto p = static_cast<std::size_t>(plane);
  picture.view.data[p] = view.data;
  picture.view.stride_bytes[p] =
      view.shape.rows == 1 ? view.shape.row_bytes() : static_cast<std::ptrdiff_t>(view.row_stride);
}

PlaneView writable_plane(const Array& array, const PlaneShape& shape, const std::string& name) {
  if (!array.writable) fail(Errc::invalid_frame, name + " is read-only");
  if (array.dimensions < 2 || plane_view(array).shape != shape)
    fail(Errc::invalid_frame,
         name + " has the shape " + shape_text(array) + ", but must have " + shape_text(shape));
  const PlaneView view = plane_view(array);
  if (!view.is_direct())
    fail(Errc::invalid_frame, name +
                                  " has samples that do not lie side by side, or rows that "
                                  "overlap; pass a contiguous array or rows of one");
  return view;
}

/// The bytes from the first to the last one of a plane.
std::pair<std::uintptr_t, std::uintptr_t> range_of(const PlaneView& view) {
  const auto at = reinterpret_cast<std::uintptr_t>(view.data);
  const std::int64_t reach = (view.shape.rows - 1) * view.row_stride;
  const auto low = at + static_cast<std::uintptr_t>(std::min<std::int64_t>(reach, 0));
  const auto high =
      at + static_cast<std::uintptr_t>(std::max<std::int64_t>(reach, 0) + view.shape.row_bytes());
  return {low, high};
}

void check_disjoint(const std::vector<PlaneView>& planes) {
  for (std::size_t a = 0; a < planes.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) {
      const auto [low, high] = range_of(planes[a]);
      const auto [other_low, other_high] = range_of(planes[b]);
      if (low < other_high && other_low < high)
        fail(Errc::invalid_frame, "two planes of out share memory");
    }
}

}  // namespace

Picture picture_in(nb::handle out, PixelFormat format, int width, int height,
                   std::uintptr_t stream) {
  Picture picture;
  picture.object = nb::borrow(out);
  picture.arrays = arrays_from(out, "out", stream);
  picture.view = {format, width, height, {}, {}};
  const int planes = plane_count(format);
  if (picture.arrays.size() != static_cast<std::size_t>(planes))
    fail(Errc::invalid_frame, "out has " + std::to_string(picture.arrays.size()) + " arrays, but " +
                                  std::string(name(format)) + " has " + std::to_string(planes) +
                                  " planes");
  std::vector<PlaneView> views;
  for (int p = 0; p < planes; ++p) {
    views.push_back(writable_plane(picture.arrays[static_cast<std::size_t>(p)],
                                   plane_shape(format, p, width, height),
                                   planes == 1 ? "out" : "plane " + std::to_string(p) + " of out"));
    set_plane(picture, p, views.back());
  }
  check_disjoint(views);
  return picture;
}

Picture new_picture(PixelFormat format, int width, int height) {
  const int planes = plane_count(format);
  if (planes == 1)
    return picture_in(new_array(plane_shape(format, 0, width, height)), format, width, height);
  nb::list arrays;
  for (int p = 0; p < planes; ++p) arrays.append(new_array(plane_shape(format, p, width, height)));
  return picture_in(nb::tuple(arrays), format, width, height);
}

JpegData::JpegData(nb::handle data, std::uintptr_t stream)
    : array_(array_from(data, "data", stream)) {
  if (array_.dimensions != 1 || (array_.stride[0] != 1 && array_.shape[0] > 1))
    fail(Errc::invalid_argument, "data has the shape " + shape_text(array_) +
                                     ", but a JPEG stream is bytes one after another");
  const auto size = static_cast<std::size_t>(array_.shape[0]);
  const auto* bytes = reinterpret_cast<const std::byte*>(array_.data);
  if (array_.writable && array_.device == kHost && size > 0) {
    copy_ = std::make_unique_for_overwrite<std::byte[]>(size);
    std::memcpy(copy_.get(), bytes, size);
    bytes = copy_.get();
  }
  bytes_ = {bytes, size};
}

}  // namespace zerorun::python
